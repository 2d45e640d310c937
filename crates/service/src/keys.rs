//! API keys: created, listed, limited, replaced, revoked, and the access that a call's key gives.

pub mod api_key;
mod change;
mod key_uses;
mod list;
mod rounds;

use refract_domain::account::secret_hash::ApiKeyHash;
use refract_persistence::KeyRow;

pub use refract_persistence::SetNetworksOutcome;

pub use self::api_key::{CallKeyId, PresentedKey};
pub use self::change::{
    KeyError, KeyLimits, KeyReplacement, OverlapDays, OverlapDaysError, ReplaceKeyError,
};
pub(crate) use self::key_uses::{KeyMetrics, KeyUses, RefusedKey};
pub use self::list::{FindKeyError, ListedKey, RemindedKey, reminders_of};
use crate::people::accounts::AccountActor;
use crate::{CallError, Refract};

/// The use cases of API keys, from [`Refract::keys`](crate::Refract::keys).
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// API keys.
    pub fn keys(&self) -> Keys<'_> {
        Keys { refract: self }
    }
}

impl Keys<'_> {
    /// The hash by which the key of a call is looked up; refuses a token without the shape of a
    /// key.
    pub(crate) fn hash_of(self, presented: &PresentedKey) -> Result<ApiKeyHash, CallError> {
        let key = presented.key();
        let key = key.ok_or_else(|| self.refused(RefusedKey::Unknown))?;
        Ok(key.hash())
    }

    /// Authenticates a call by the row that was found for the hash of its key: refuses an unknown
    /// or revoked key and a client outside the key's networks, records the key's use, and returns
    /// the row with the caller. The key's id is reported even for a refused key.
    pub(crate) fn authenticate<Row>(
        self,
        presented: &PresentedKey,
        found: Option<Row>,
        key_of: impl Fn(&Row) -> &KeyRow,
    ) -> Result<(AccountActor, Row), CallError> {
        let row = found.ok_or_else(|| self.refused(RefusedKey::Unknown))?;
        let key = key_of(&row);
        presented.is_of(key.id);
        if key.is_revoked {
            return Err(self.refused(RefusedKey::Revoked));
        }
        let client = presented.client();
        if let Some(networks) = &key.networks
            && !client.is_some_and(|client| networks.allow(client))
        {
            tracing::info!(key = %key.id, "the client is in none of the key's networks");
            return Err(self.refused(RefusedKey::Network));
        }
        self.refract.key_uses.note(key.id, client);
        Ok((AccountActor::key(key.account, key.id), row))
    }

    /// Counts a refused key. The reply to all of them is the same (spec 7).
    fn refused(self, reason: RefusedKey) -> CallError {
        self.refract.metrics.keys.refused(reason);
        CallError::InvalidApiKey
    }
}
