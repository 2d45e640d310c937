//! What owners should know about their keys before programs are refused.

use chrono::{DateTime, Utc};
use refract_domain::account::key_use::KeyReminder;
use refract_domain::ids::AccountId;
use refract_persistence::StoredKey;

use super::{Keys, ListedKey};
use crate::InternalError;

/// A key that needs its owners' attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemindedKey {
    /// The key.
    pub key: StoredKey,
    /// What its owners should know.
    pub reminder: KeyReminder,
}

impl Keys<'_> {
    /// The keys of an account that end soon although they are in use, or whose successor is not
    /// used.
    pub async fn reminders(
        self,
        account: AccountId,
        now: DateTime<Utc>,
    ) -> Result<Vec<RemindedKey>, InternalError> {
        let database = &self.refract.database;
        let rows = database.list_uncounted_api_keys(account).await?;
        Ok(reminded(&rows.iter().collect::<Vec<_>>(), now))
    }
}

/// The reminders about keys that are listed already, which must be all of an account.
pub fn reminders_of(keys: &[ListedKey], now: DateTime<Utc>) -> Vec<RemindedKey> {
    let rows: Vec<_> = keys.iter().map(|key| &key.row).collect();
    reminded(&rows, now)
}

fn reminded(rows: &[&StoredKey], now: DateTime<Utc>) -> Vec<RemindedKey> {
    let successor_of = |key: &StoredKey| {
        let mut successors = rows.iter().filter(|row| row.replaces == Some(key.id));
        let active = successors.find(|row| row.revoked_at.is_none());
        active.map(|row| row.times())
    };
    let reminded = rows.iter().filter_map(|row| {
        let reminder = row.times().reminder(successor_of(row).as_ref(), now)?;
        Some(RemindedKey {
            key: (*row).clone(),
            reminder,
        })
    });
    reminded.collect()
}
