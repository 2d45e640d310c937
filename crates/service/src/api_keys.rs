//! Creates API keys and collects when each was last used.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use refract_domain::api_key::ApiKey;
use refract_domain::event::{EventAction, EventTarget};
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_persistence::{Database, NewApiKey, PersistenceError, UncountedKeyRow};
use uuid::Uuid;

use crate::caller::Caller;
use crate::events::{EventFilter, EventName, ListedEvent, ListedEvents};
use crate::people::{MakerName, names};
use crate::refusal::InternalError;
use crate::result_counts::counts;
use crate::secrets::{SecretFailed, random_bytes};

/// Interval at which collected uses are saved.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);

/// Why a key was not created.
#[derive(Debug, thiserror::Error)]
pub enum KeyRefusal {
    /// The key would be refused from the beginning.
    #[error("the end of a key must be in the future, and {} is over: name a later one", second(*.end))]
    EndsInThePast {
        /// The end that was asked for.
        end: DateTime<Utc>,
    },
    /// A secret could not be made or checked.
    #[error(transparent)]
    Secret(#[from] SecretFailed),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

/// Creates a key for the caller's account, which opens it until `expires_at`. The returned [`ApiKey`] is
/// the only copy: the database keeps a hash.
///
/// # Errors
/// When the key's end is not in the future, the operating system gives no random numbers or the
/// database fails.
pub async fn create(
    database: &Database,
    caller: &Caller,
    name: String,
    expires_at: Option<DateTime<Utc>>,
) -> Result<(ApiKeyId, ApiKey), KeyRefusal> {
    let stamp = caller.event_stamp();
    if let Some(end) = expires_at.filter(|end| *end <= stamp.at) {
        return Err(KeyRefusal::EndsInThePast { end });
    }
    let key = ApiKey::from_random(random_bytes()?);
    let id = ApiKeyId(Uuid::now_v7());
    let new = NewApiKey {
        id,
        account: caller.account(),
        name,
        hash: key.hash(),
        first_characters: key.first_characters(),
        expires_at,
    };
    database.create_api_key(&new, stamp).await?;
    Ok((id, key))
}

/// A moment to the second.
fn second(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A key with how many results it made and what its maker is called.
pub struct ListedKey {
    /// The key, without the key itself.
    pub row: UncountedKeyRow,
    /// Results that the key made.
    pub results: u64,
    /// Who made the key; `None` for the terminal.
    pub made_by: Option<MakerName>,
    /// Who revoked the key; `None` for a key that was not revoked, or before events were kept.
    pub revoked_by: Option<EventName>,
}

impl ListedKey {
    /// Whether the key has come to its end.
    pub fn has_ended(&self, now: DateTime<Utc>) -> bool {
        self.row.expires_at.is_some_and(|end| end <= now)
    }
}

/// The keys of an account, oldest first, revoked ones too. Results come out of the kept counts.
///
/// # Errors
/// When the database fails.
pub async fn list(
    database: &Database,
    account: AccountId,
) -> Result<Vec<ListedKey>, InternalError> {
    let counts = counts(database, account, Utc::now()).await?;
    let rows = database.list_uncounted_api_keys(account).await?;
    let makers: Vec<_> = rows.iter().filter_map(|row| row.made_by).collect();
    let names = names(database, account, &makers).await?;
    let mut revocations = revocations(database, account).await?;
    let listed = rows.into_iter().map(|row| ListedKey {
        results: counts.of_key(row.id),
        revoked_by: revocations.remove(&row.id).map(|revocation| revocation.by),
        made_by: row.made_by.and_then(|maker| names.get(&maker)).cloned(),
        row,
    });
    Ok(listed.collect())
}

/// The events by which keys of an account were revoked, by key.
///
/// # Errors
/// When the database fails.
pub async fn revocations(
    database: &Database,
    account: AccountId,
) -> Result<HashMap<ApiKeyId, ListedEvent>, InternalError> {
    let filter = EventFilter {
        action: Some(EventAction::KeyRevoked),
        ..EventFilter::default()
    };
    let mut events = ListedEvents::new(database, account, filter);
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

/// What the keys of an account are called, oldest first, revoked ones too.
///
/// # Errors
/// When the database fails.
pub async fn labels(
    database: &Database,
    account: AccountId,
) -> Result<Vec<(ApiKeyId, String)>, InternalError> {
    let rows = database.list_uncounted_api_keys(account).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.name)).collect())
}

/// Revokes a key of the caller's account for good: the next request with it is refused. Returns whether
/// the account has such a key. Revoking a key again changes nothing.
///
/// # Errors
/// When the database fails.
pub async fn revoke(
    database: &Database,
    caller: &Caller,
    key: ApiKeyId,
) -> Result<bool, InternalError> {
    let revoked_at = database.revoke_api_key(key, caller.event_stamp()).await?;
    Ok(revoked_at.is_some())
}

/// The moments at which keys were last used, collected in memory and saved together: a call writes
/// nothing to the database for its key.
///
/// A crash loses the last uses of a few seconds, and nothing else. Clones share one collection.
#[derive(Clone, Default)]
pub struct KeyUses(Arc<Mutex<HashMap<ApiKeyId, DateTime<Utc>>>>);

impl KeyUses {
    /// Notes that a key is used now.
    pub fn note(&self, key: ApiKeyId) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uses.insert(key, Utc::now());
    }

    /// Saves the collected uses every few seconds, until the future is dropped.
    pub async fn write_regularly(&self, database: &Database) -> Infallible {
        loop {
            tokio::time::sleep(SAVE_INTERVAL).await;
            self.write(database).await;
        }
    }

    /// Saves the collected uses, and keeps them for the next time when the database fails.
    pub async fn write(&self, database: &Database) {
        let uses = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if uses.is_empty() {
            return;
        }
        let list: Vec<_> = uses.into_iter().collect();
        if let Err(error) = database.note_key_use(&list).await {
            tracing::warn!(%error, "the last use of keys could not be written yet");
            let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for (key, moment) in list {
                gathered.entry(key).or_insert(moment);
            }
        }
    }
}
