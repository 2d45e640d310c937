//! Saves when and from where API keys were last used, and exports how long they are still accepted.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::account::key_use::days_left;
use refract_persistence::KeyUse;

use super::key_uses::KeyLabels;
use crate::InternalError;
use crate::keys::Keys;

/// Interval at which collected uses are saved.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);
/// The pause between two looks at the keys.
const ROUND: Duration = Duration::from_mins(1);
/// Keys that end within this time have a series.
const SHOWN: TimeDelta = TimeDelta::days(30);
/// The most series, so that an account with thousands of keys does not fill the memory of the
/// monitoring system. The keys that end first have one.
const MOST_SERIES: u32 = 1_000;

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

    /// Exports every minute how long the keys in use are still accepted, until the future is
    /// dropped. Every node exports the same.
    async fn export_days_left_regularly(self) -> Infallible {
        let mut exported = HashMap::new();
        loop {
            match self.days_left(Utc::now()).await {
                Ok(days) => {
                    self.refract.metrics.keys.set(&exported, &days);
                    exported = days;
                }
                Err(error) => tracing::warn!(%error, "the ends of keys could not be read yet"),
            }
            tokio::time::sleep(ROUND).await;
        }
    }

    async fn days_left(self, now: DateTime<Utc>) -> Result<HashMap<KeyLabels, f64>, InternalError> {
        let database = &self.refract.database;
        let ending = database.list_ending_keys(now, now + SHOWN, MOST_SERIES);
        let in_use = ending.await?.into_iter().filter_map(|key| {
            let is_in_use = key.times.is_in_use(key.successor.as_ref(), now);
            let labels = [("account", key.account), ("key", key.id.to_string())];
            is_in_use.then(|| (labels, days_left(key.ends_at, now)))
        });
        Ok(in_use.collect())
    }
}
