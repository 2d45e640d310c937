//! Creates, limits, replaces and revokes API keys. After a replacement both keys work until the
//! replaced one ends.

use chrono::{DateTime, Days, SecondsFormat, Utc};
use refract_boxed_futures::boxed;
use refract_domain::account::KeyNetworks;
use refract_domain::ids::ApiKeyId;
use refract_persistence::{
    NewApiKey, NewSuccessor, PersistenceError, ReplaceKeyOutcome, SetNetworksOutcome,
};
use uuid::Uuid;

use super::Keys;
use crate::keys::ApiKey;
use crate::people::{AccountActor, SecretError, random_bytes};

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

#[boxed]
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
        let id = ApiKeyId::new(Uuid::now_v7());
        Ok((id, self.create_as(actor, id, name, limits).await?))
    }

    /// Creates a key with this id, unless it was created before: a form that is sent twice creates
    /// one key. `None` for one that was created before.
    ///
    /// # Errors
    /// Those of [`Keys::create`].
    pub async fn create_once(
        self,
        actor: &AccountActor,
        id: ApiKeyId,
        name: String,
        limits: KeyLimits,
    ) -> Result<Option<ApiKey>, KeyError> {
        match self.create_as(actor, id, name, limits).await {
            Err(error @ KeyError::Persistence(_)) => {
                let listed = self.list(actor.account()).await?;
                let is_made = listed.iter().any(|key| key.row.id == id);
                if is_made { Ok(None) } else { Err(error) }
            }
            created => created.map(Some),
        }
    }

    async fn create_as(
        self,
        actor: &AccountActor,
        id: ApiKeyId,
        name: String,
        limits: KeyLimits,
    ) -> Result<ApiKey, KeyError> {
        let stamp = actor.event_stamp();
        let KeyLimits {
            expires_at,
            networks,
        } = limits;
        check_end(expires_at, stamp.at)?;
        let key = ApiKey::from_random(random_bytes()?);
        let new = NewApiKey {
            id,
            account: actor.account(),
            name,
            hash: key.hash(),
            first_characters: key.first_characters(),
            expires_at,
            networks,
        };
        self.identity.database.create_api_key(&new, stamp).await?;
        Ok(key)
    }

    /// Limits a key of the caller's account to networks; `None` for no limit. Nodes apply it to
    /// the next request.
    pub async fn set_networks(
        self,
        actor: &AccountActor,
        key: ApiKeyId,
        networks: Option<&KeyNetworks>,
    ) -> Result<SetNetworksOutcome, PersistenceError> {
        let database = &self.identity.database;
        let setting = database.set_key_networks(key, networks, actor.event_stamp());
        setting.await
    }

    /// Revokes a key of the caller's account for good: the next request with it is refused. Returns
    /// whether the account has such a key. Revoking a key again changes nothing.
    pub async fn revoke(
        self,
        actor: &AccountActor,
        key: ApiKeyId,
    ) -> Result<bool, PersistenceError> {
        let database = &self.identity.database;
        let revoked_at = database.revoke_api_key(key, actor.event_stamp()).await?;
        Ok(revoked_at.is_some())
    }
}

/// Checks that a key does not end before it is made.
fn check_end(expires_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Result<(), KeyError> {
    match expires_at.filter(|end| *end <= now) {
        Some(end) => Err(KeyError::EndsInThePast { end }),
        None => Ok(()),
    }
}

/// Formats a moment to the second.
fn second(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// How long a replaced key is still accepted, in whole days: 1 to 90.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverlapDays(u8);

/// The number of days is not between 1 and 90.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a number of days from 1 to {most}", most = OverlapDays::MOST)]
pub struct OverlapDaysError;

/// How the replacement of a key ended.
pub enum KeyReplacement {
    /// The key has a new successor.
    New {
        /// The successor's id.
        id: ApiKeyId,
        /// The only copy of the successor.
        key: ApiKey,
        /// The end of the replaced key.
        replaced_ends_at: DateTime<Utc>,
    },
    /// The key was replaced before: its successor is shown to nobody again.
    Earlier {
        /// The successor's id.
        id: ApiKeyId,
        /// The end of the replaced key; `None` for none.
        replaced_ends_at: Option<DateTime<Utc>>,
    },
}

/// Why a key was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceKeyError {
    /// The account has no such key.
    #[error("there is no such key")]
    NotFound,
    /// The key is revoked or has ended.
    #[error("the key is revoked or has ended, so nothing uses it: make a new key")]
    Ended,
    /// The successor cannot be made.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl OverlapDays {
    /// The most days.
    pub const MOST: u8 = 90;

    /// Checks a number of days.
    ///
    /// # Errors
    /// When it is not between 1 and 90.
    pub fn parse(text: &str) -> Result<Self, OverlapDaysError> {
        let days = text.trim().parse().ok();
        let days = days.filter(|days| (1..=Self::MOST).contains(days));
        days.map(Self).ok_or(OverlapDaysError)
    }
}

/// A week.
impl Default for OverlapDays {
    fn default() -> Self {
        Self(7)
    }
}

#[boxed]
impl Keys<'_> {
    /// Makes a successor of a key, with its name and networks, and lets the key end after some
    /// days. A key that ends earlier keeps its end. A key has one successor: replacing a key again
    /// changes nothing, unless its successor is revoked.
    ///
    /// # Errors
    /// When the account has no such key, the key has ended, the successor's end is not in the
    /// future, the operating system gives no random numbers or the database fails.
    pub async fn replace(
        self,
        actor: &AccountActor,
        replaced: ApiKeyId,
        overlap: OverlapDays,
        expires_at: Option<DateTime<Utc>>,
    ) -> Result<KeyReplacement, ReplaceKeyError> {
        let stamp = actor.event_stamp();
        check_end(expires_at, stamp.at)?;
        let key = ApiKey::from_random(random_bytes().map_err(KeyError::from)?);
        let id = ApiKeyId::new(Uuid::now_v7());
        let ends_at = stamp.at.checked_add_days(Days::new(overlap.0.into()));
        let new = NewSuccessor {
            id,
            replaces: replaced,
            hash: key.hash(),
            first_characters: key.first_characters(),
            expires_at,
            replaced_ends_at: ends_at.unwrap_or(stamp.at),
        };
        let database = &self.identity.database;
        let replacing = database.replace_api_key(&new, stamp).await;
        match replacing.map_err(KeyError::from)? {
            ReplaceKeyOutcome::Replaced { ends_at } => Ok(KeyReplacement::New {
                id,
                key,
                replaced_ends_at: ends_at,
            }),
            ReplaceKeyOutcome::HasSuccessor { successor, ends_at } => Ok(KeyReplacement::Earlier {
                id: successor,
                replaced_ends_at: ends_at,
            }),
            ReplaceKeyOutcome::Ended => Err(ReplaceKeyError::Ended),
            ReplaceKeyOutcome::NotFound => Err(ReplaceKeyError::NotFound),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_key_is_accepted_for_one_to_ninety_days() {
        assert_eq!(OverlapDays::parse(" 7"), Ok(OverlapDays::default()));
        assert!(OverlapDays::parse("90").is_ok());
        for bad in ["", "0", "91", "-1", "256", "1.5", "a week"] {
            let error = OverlapDays::parse(bad).unwrap_err();
            assert_eq!(error.to_string(), "must be a number of days from 1 to 90");
        }
    }
}
