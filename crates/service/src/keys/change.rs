//! Creates and revokes API keys.

use chrono::{DateTime, SecondsFormat, Utc};
use refract_domain::ids::ApiKeyId;
use refract_persistence::{NewApiKey, PersistenceError};
use uuid::Uuid;

use super::Keys;
use crate::InternalError;
use crate::keys::api_key::ApiKey;
use crate::people::account_actor::AccountActor;
use crate::people::secrets::{SecretError, random_bytes};

/// Why a key was not created.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key would have expired already.
    #[error("the end of a key must be in the future, and {} is over: name a later one", second(*.end))]
    EndsInThePast {
        /// The requested end.
        end: DateTime<Utc>,
    },
    /// A secret could not be made or checked.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl Keys<'_> {
    /// Creates a key for the caller's account that is accepted until `expires_at`. The returned
    /// [`ApiKey`] is the only copy: the database stores its hash.
    ///
    /// # Errors
    /// When the key's end is not in the future, the operating system gives no random numbers or the
    /// database fails.
    pub async fn create(
        self,
        actor: &AccountActor,
        name: String,
        expires_at: Option<DateTime<Utc>>,
    ) -> Result<(ApiKeyId, ApiKey), KeyError> {
        let stamp = actor.event_stamp();
        if let Some(end) = expires_at.filter(|end| *end <= stamp.at) {
            return Err(KeyError::EndsInThePast { end });
        }
        let key = ApiKey::from_random(random_bytes()?);
        let id = ApiKeyId::new(Uuid::now_v7());
        let new = NewApiKey {
            id,
            account: actor.account(),
            name,
            hash: key.hash(),
            first_characters: key.first_characters(),
            expires_at,
        };
        self.refract.database.create_api_key(&new, stamp).await?;
        Ok((id, key))
    }
}

/// Formats a moment to the second.
fn second(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Secs, true)
}

impl Keys<'_> {
    /// Revokes a key of the caller's account for good: the next request with it is refused. Returns
    /// whether the account has such a key. Revoking a key again changes nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn revoke(self, actor: &AccountActor, key: ApiKeyId) -> Result<bool, InternalError> {
        let database = &self.refract.database;
        let revoked_at = database.revoke_api_key(key, actor.event_stamp()).await?;
        Ok(revoked_at.is_some())
    }
}
