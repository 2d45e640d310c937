//! API keys: made here, and their last use gathered.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rand::TryRng as _;
use refract_domain::api_key::ApiKey;
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_persistence::{Database, NewApiKey, PersistenceError};
use uuid::Uuid;

/// How often gathered uses are written.
const WRITE_EVERY: Duration = Duration::from_secs(5);

/// A key was not made.
#[derive(Debug, thiserror::Error)]
pub enum KeyRefusal {
    /// The system gives no random numbers.
    #[error("the system gives no random numbers for a key")]
    NoRandomness,
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

/// Makes a key for an account. The key itself is in the return value and nowhere else.
///
/// # Errors
/// When there is no randomness, or the database fails.
pub async fn create(
    database: &Database,
    account: AccountId,
    name: String,
) -> Result<(ApiKeyId, ApiKey), KeyRefusal> {
    let mut random = [0_u8; 32];
    rand::rngs::SysRng
        .try_fill_bytes(&mut random)
        .map_err(|_| KeyRefusal::NoRandomness)?;
    let key = ApiKey::from_random(random);
    let id = ApiKeyId(Uuid::now_v7());
    let new = NewApiKey {
        id,
        account,
        name,
        hash: key.hash(),
        first_characters: key.first_characters(),
        created_at: Utc::now(),
    };
    database.create_api_key(&new).await?;
    Ok((id, key))
}

/// When keys were last used, gathered so that a call costs no write of its own.
///
/// A crash loses the uses of the last seconds, and nothing else.
#[derive(Clone, Default)]
pub struct KeyUses(Arc<Mutex<HashMap<ApiKeyId, DateTime<Utc>>>>);

impl KeyUses {
    /// Notes that a key was used now.
    pub fn note(&self, key: ApiKeyId) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uses.insert(key, Utc::now());
    }

    /// Writes gathered uses every few seconds, for as long as it is polled.
    pub async fn write_regularly(&self, database: &Database) -> Infallible {
        loop {
            tokio::time::sleep(WRITE_EVERY).await;
            self.write(database).await;
        }
    }

    /// Writes what was gathered. What cannot be written is kept for the next time.
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
