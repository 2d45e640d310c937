//! Authentication of API calls: which account a key opens (spec 5).

use refract_domain::account::secret_hash::ApiKeyHash;
use refract_persistence::KeyRow;

use crate::CallError;
use crate::keys::presented_key::PresentedKey;
use crate::keys::{Keys, RefusedKey};
use crate::people::account_actor::AccountActor;

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
