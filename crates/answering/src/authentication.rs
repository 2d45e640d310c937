//! Who makes a call: an account, with one of its API keys or from the operator's terminal (spec 5).

use refract_domain::ids::{AccountId, ApiKeyId};
use refract_persistence::KeyRow;

use crate::answering::Answering;
use crate::refusal::Refusal;

/// The account that makes a call, and its API key when the call came through the API.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) account: AccountId,
    pub(crate) api_key: Option<ApiKeyId>,
}

impl Caller {
    /// The operator, who works in an account without an API key.
    pub(crate) fn operator(account: AccountId) -> Self {
        Self {
            account,
            api_key: None,
        }
    }
}

impl Answering {
    /// Authenticates a call by the row that was found for the hash of its key: refuses an unknown
    /// or revoked key, notes the key's use, and hands the row back with the caller.
    pub(crate) fn authenticate<Row>(
        &self,
        found: Option<Row>,
        key_of: impl Fn(&Row) -> KeyRow,
    ) -> Result<(Caller, Row), Refusal> {
        let row = found.ok_or(Refusal::InvalidApiKey)?;
        let key = key_of(&row);
        if key.is_revoked {
            return Err(Refusal::InvalidApiKey);
        }
        self.key_uses.note(key.id);
        let caller = Caller {
            account: key.account,
            api_key: Some(key.id),
        };
        Ok((caller, row))
    }
}
