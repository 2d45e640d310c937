//! Authentication of API calls: which account a key opens (spec 5).

use refract_persistence::KeyRow;

use crate::CallError;
use crate::keys::Keys;
use crate::keys::presented_key::PresentedKey;
use crate::people::account_actor::AccountActor;

impl Keys<'_> {
    /// Authenticates a call by the row that was found for the hash of its key: refuses an unknown
    /// or revoked key, records the key's use, and returns the row with the caller. The key's id is
    /// reported even for a revoked key.
    pub(crate) fn authenticate<Row>(
        self,
        presented: &PresentedKey,
        found: Option<Row>,
        key_of: impl Fn(&Row) -> KeyRow,
    ) -> Result<(AccountActor, Row), CallError> {
        let row = found.ok_or(CallError::InvalidApiKey)?;
        let key = key_of(&row);
        presented.is_of(key.id);
        if key.is_revoked {
            return Err(CallError::InvalidApiKey);
        }
        self.refract.key_uses.note(key.id);
        Ok((AccountActor::key(key.account, key.id), row))
    }
}
