//! Replaces API keys: both keys work until the replaced one ends.

use chrono::{DateTime, Days, Utc};
use refract_domain::ids::ApiKeyId;
use refract_persistence::{NewSuccessor, ReplaceKeyOutcome};
use uuid::Uuid;

use super::change::check_end;
use super::{KeyError, Keys};
use crate::keys::api_key::ApiKey;
use crate::people::account_actor::AccountActor;
use crate::people::secrets::random_bytes;

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
        let database = &self.refract.database;
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
