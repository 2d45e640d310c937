//! Lists API keys, finds one by what an operator calls it, and reminds owners of keys before
//! programs are refused.

use refract_boxed_futures::boxed;
use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use refract_domain::account::KeyReminder;
use refract_domain::event::{EventAction, EventTarget};
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_persistence::{PersistenceError, StoredKey};

use super::Keys;
use crate::events::{EventFilter, EventName, ListedEvent};
use crate::people::ActorName;

/// A key with the name of its actor.
pub struct ListedKey {
    /// The stored row, without the secret key.
    pub row: StoredKey,
    /// Who made the key; `None` for the terminal.
    pub actor: Option<ActorName>,
    /// Who revoked the key; `None` for a key that is not revoked, or was before events were
    /// recorded.
    pub revoked_by: Option<EventName>,
}

impl ListedKey {
    /// Whether the key has expired.
    pub fn has_ended(&self, now: DateTime<Utc>) -> bool {
        self.row.expires_at.is_some_and(|end| end <= now)
    }
}

/// Why no key was found.
#[derive(Debug, thiserror::Error)]
pub enum FindKeyError {
    /// No key of the account has this id, and no accepted one has this name.
    #[error("there is no key with this id, and no accepted one with this name")]
    NotFound,
    /// Several accepted keys have the name, and they do not replace each other.
    #[error("{0} keys have this name: name one by its id")]
    Ambiguous(usize),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

/// A key that needs its owners' attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemindedKey {
    /// The key.
    pub key: StoredKey,
    /// What its owners should know.
    pub reminder: KeyReminder,
}

#[boxed]
impl Keys<'_> {
    /// The keys of an account, oldest first, revoked ones included.
    pub async fn list(self, account: AccountId) -> Result<Vec<ListedKey>, PersistenceError> {
        let database = &self.identity.database;
        let rows = database.list_uncounted_api_keys(account).await?;
        let actors: Vec<_> = rows.iter().filter_map(|row| row.made_by).collect();
        let names = self.identity.people().names(account, &actors).await?;
        let mut revocations = self.revocations(account).await?;
        let listed = rows.into_iter().map(|row| ListedKey {
            revoked_by: revocations.remove(&row.id).map(|revocation| revocation.by),
            actor: row.made_by.and_then(|actor| names.get(&actor)).cloned(),
            row,
        });
        Ok(listed.collect())
    }

    /// The events that revoked keys of an account, by key.
    pub async fn revocations(
        self,
        account: AccountId,
    ) -> Result<HashMap<ApiKeyId, ListedEvent>, PersistenceError> {
        let filter = EventFilter {
            action: Some(EventAction::KeyRevoked),
            ..EventFilter::default()
        };
        let mut events = self.identity.events().list(account, filter);
        let mut revocations = HashMap::new();
        loop {
            let page = events.next_page().await?;
            if page.is_empty() {
                return Ok(revocations);
            }
            for listed in page {
                if let EventTarget::Key(key) = listed.event.target {
                    revocations.insert(key, listed);
                }
            }
        }
    }

    /// The labels of the keys of an account, oldest first, revoked ones included. Where several
    /// keys have one name, each label has the first characters of its key.
    pub async fn labels(
        self,
        account: AccountId,
    ) -> Result<Vec<(ApiKeyId, String)>, PersistenceError> {
        let database = &self.identity.database;
        let rows = database.list_uncounted_api_keys(account).await?;
        let mut named: HashMap<&str, usize> = HashMap::new();
        for row in &rows {
            *named.entry(&row.name).or_default() += 1;
        }
        let labels = rows.iter().map(|row| {
            let is_unique = named.get(row.name.as_str()) == Some(&1);
            let label = if is_unique {
                row.name.clone()
            } else {
                format!("{} ({}…)", row.name, row.first_characters)
            };
            (row.id, label)
        });
        Ok(labels.collect())
    }

    /// Finds a key of an account by its id, or an accepted key by its name. Of keys that replace
    /// each other, the name is the replaced one's, until that ends: so a command that is run again
    /// finds the key that it found before.
    ///
    /// # Errors
    /// When no key or several keys are found, or the database fails.
    pub async fn find(self, account: AccountId, called: &str) -> Result<ApiKeyId, FindKeyError> {
        let database = &self.identity.database;
        let rows = database.list_uncounted_api_keys(account).await?;
        choose(&rows, called, Utc::now())
    }

    /// The keys of an account that end soon although they are in use, or whose successor is not
    /// used.
    pub async fn reminders(
        self,
        account: AccountId,
        now: DateTime<Utc>,
    ) -> Result<Vec<RemindedKey>, PersistenceError> {
        let database = &self.identity.database;
        let rows = database.list_uncounted_api_keys(account).await?;
        Ok(reminded(&rows.iter().collect::<Vec<_>>(), now))
    }
}

fn choose(rows: &[StoredKey], called: &str, now: DateTime<Utc>) -> Result<ApiKeyId, FindKeyError> {
    if let Some(id) = ApiKeyId::parse(called) {
        let found = rows.iter().find(|row| row.id == id);
        return found.map(|row| row.id).ok_or(FindKeyError::NotFound);
    }
    let named = rows.iter();
    let named = named.filter(|row| row.name == called && row.times().is_accepted(now));
    let ids: HashSet<ApiKeyId> = named.clone().map(|row| row.id).collect();
    let is_successor = |row: &StoredKey| row.replaces.is_some_and(|key| ids.contains(&key));
    let first: Vec<_> = named.filter(|row| !is_successor(row)).collect();
    match first.as_slice() {
        [] => Err(FindKeyError::NotFound),
        [only] => Ok(only.id),
        several => Err(FindKeyError::Ambiguous(several.len())),
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> ApiKeyId {
        ApiKeyId::new(Uuid::from_u128(number))
    }

    fn key(number: u128, name: &str, replaces: Option<u128>) -> StoredKey {
        StoredKey {
            id: id(number),
            name: name.to_owned(),
            first_characters: "rk_abcd".to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            last_used_at: None,
            revoked_at: None,
            made_by: None,
            expires_at: None,
            networks: None,
            last_used_from: None,
            replaces: replaces.map(id),
        }
    }

    #[test]
    fn a_key_is_found_by_its_id_or_by_a_name_that_is_clear() {
        let mut rows = vec![
            key(1, "importer", None),
            key(2, "importer", Some(1)),
            key(3, "importer", Some(2)),
            key(4, "shop", None),
            key(5, "shop", None),
        ];
        let now = Utc::now();
        let find = |rows: &[StoredKey], called: &str| choose(rows, called, now).ok();
        assert_eq!(find(&rows, &id(5).to_string()), Some(id(5)));
        assert_eq!(find(&rows, &id(6).to_string()), None);
        assert_eq!(find(&rows, "importer"), Some(id(1)), "the replaced one");
        assert_eq!(find(&rows, "Importer"), None);
        let error = choose(&rows, "shop", now).unwrap_err();
        assert_eq!(
            error.to_string(),
            "2 keys have this name: name one by its id"
        );
        rows[0].expires_at = Some(now);
        rows[3].revoked_at = Some(now);
        assert_eq!(find(&rows, "importer"), Some(id(2)), "the first one ended");
        assert_eq!(find(&rows, "shop"), Some(id(5)), "the other is revoked");
    }
}
