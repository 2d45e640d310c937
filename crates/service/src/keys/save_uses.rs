//! Saves when and from where API keys were last used.

use std::convert::Infallible;
use std::time::Duration;

use refract_persistence::KeyUse;

use crate::keys::Keys;

/// Interval at which collected uses are saved.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);

impl Keys<'_> {
    /// Saves every few seconds when keys were last used, and exports every minute how long they are
    /// still accepted, until the future is dropped.
    pub async fn run_rounds(self) -> Infallible {
        tokio::select! {
            never = self.save_uses_regularly() => never,
            never = self.export_days_left_regularly() => never,
        }
    }

    async fn save_uses_regularly(self) -> Infallible {
        loop {
            tokio::time::sleep(SAVE_INTERVAL).await;
            self.save_uses().await;
        }
    }

    /// Saves when keys were last used. If the database fails, the uses stay collected for the next
    /// time.
    pub async fn save_uses(self) {
        let uses = &self.refract.key_uses;
        let taken = std::mem::take(&mut *uses.collected());
        if taken.is_empty() {
            return;
        }
        let list: Vec<_> = taken
            .into_iter()
            .map(|(key, (at, client))| KeyUse { key, at, client })
            .collect();
        if let Err(error) = self.refract.database.note_key_use(&list).await {
            tracing::warn!(%error, "the last use of keys could not be written yet");
            let mut collected = uses.collected();
            for KeyUse { key, at, client } in list {
                collected.entry(key).or_insert((at, client));
            }
        }
    }
}
