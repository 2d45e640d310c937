//! Creates, limits and revokes API keys.

use chrono::{DateTime, SecondsFormat, Utc};
use refract_domain::account::key_networks::KeyNetworks;
use refract_domain::ids::ApiKeyId;
use refract_persistence::{NewApiKey, PersistenceError, SetNetworksOutcome};
use uuid::Uuid;

use super::Keys;
use crate::InternalError;
use crate::keys::api_key::ApiKey;
use crate::people::account_actor::AccountActor;
use crate::people::secrets::{SecretError, random_bytes};

/// Until when and from where a key is accepted; by default for ever and from anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// The key is refused from this moment on; `None` for a key that never expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// The networks from which the key is accepted; `None` for any.
    pub networks: Option<KeyNetworks>,
}

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
    /// Creates a key for the caller's account. The returned [`ApiKey`] is the only copy: the
    /// database stores its hash.
    ///
    /// # Errors
    /// When the key's end is not in the future, the operating system gives no random numbers or the
    /// database fails.
    pub async fn create(
        self,
        actor: &AccountActor,
        name: String,
        limits: KeyLimits,
    ) -> Result<(ApiKeyId, ApiKey), KeyError> {
        let stamp = actor.event_stamp();
        let KeyLimits {
            expires_at,
            networks,
        } = limits;
        check_end(expires_at, stamp.at)?;
        let key = ApiKey::from_random(random_bytes()?);
        let id = ApiKeyId::new(Uuid::now_v7());
        let new = NewApiKey {
            id,
            account: actor.account(),
            name,
            hash: key.hash(),
            first_characters: key.first_characters(),
            expires_at,
            networks,
        };
        self.refract.database.create_api_key(&new, stamp).await?;
        Ok((id, key))
    }

    /// Limits a key of the caller's account to networks; `None` for no limit. Nodes apply it to
    /// the next request.
    pub async fn set_networks(
        self,
        actor: &AccountActor,
        key: ApiKeyId,
        networks: Option<&KeyNetworks>,
    ) -> Result<SetNetworksOutcome, InternalError> {
        let database = &self.refract.database;
        let setting = database.set_key_networks(key, networks, actor.event_stamp());
        Ok(setting.await?)
    }

    /// Revokes a key of the caller's account for good: the next request with it is refused. Returns
    /// whether the account has such a key. Revoking a key again changes nothing.
    pub async fn revoke(self, actor: &AccountActor, key: ApiKeyId) -> Result<bool, InternalError> {
        let database = &self.refract.database;
        let revoked_at = database.revoke_api_key(key, actor.event_stamp()).await?;
        Ok(revoked_at.is_some())
    }
}

/// Checks that a key does not end before it is made.
pub(super) fn check_end(
    expires_at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<(), KeyError> {
    match expires_at.filter(|end| *end <= now) {
        Some(end) => Err(KeyError::EndsInThePast { end }),
        None => Ok(()),
    }
}

/// Formats a moment to the second.
fn second(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Secs, true)
}
