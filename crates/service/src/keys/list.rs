//! Lists API keys.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use refract_domain::event::{EventAction, EventTarget};
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_persistence::StoredKey;

use super::Keys;
use crate::InternalError;
use crate::events::{EventFilter, EventName, ListedEvent};
use crate::people::ActorName;

/// A key with its number of results and the name of its actor.
pub struct ListedKey {
    /// The stored row, without the secret key.
    pub row: StoredKey,
    /// Number of results that the key made.
    pub results: u64,
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

impl Keys<'_> {
    /// The keys of an account, oldest first, revoked ones included. Their results come from the
    /// stored counts.
    pub async fn list(self, account: AccountId) -> Result<Vec<ListedKey>, InternalError> {
        let counts = self.refract.results().counts(account, Utc::now()).await?;
        let database = &self.refract.database;
        let rows = database.list_uncounted_api_keys(account).await?;
        let actors: Vec<_> = rows.iter().filter_map(|row| row.made_by).collect();
        let names = self.refract.people().names(account, &actors).await?;
        let mut revocations = self.revocations(account).await?;
        let listed = rows.into_iter().map(|row| ListedKey {
            results: counts.of_key(row.id),
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
    ) -> Result<HashMap<ApiKeyId, ListedEvent>, InternalError> {
        let filter = EventFilter {
            action: Some(EventAction::KeyRevoked),
            ..EventFilter::default()
        };
        let mut events = self.refract.events().list(account, filter);
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
    ) -> Result<Vec<(ApiKeyId, String)>, InternalError> {
        let database = &self.refract.database;
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
}
