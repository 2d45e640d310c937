//! A result as it is passed to be saved.

use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId, ResultId};
use refract_domain::result::SavedResult;

use crate::queries::results::provenance::Provenance;

/// A result to be saved.
#[derive(Clone, Debug)]
pub struct NewResult {
    /// The account that the result belongs to.
    pub account: AccountId,
    /// The key that made the result; `None` for a command and for a person.
    pub api_key: Option<ApiKeyId>,
    /// The person who made the result in the app.
    pub made_by: Option<PersonId>,
    /// The stored file run that made the result.
    pub file_run: Option<FileRunId>,
    /// The failed result that this one retries. An idempotency key that the failed result holds
    /// moves to this one: `result` must carry it.
    pub retry_of: Option<ResultId>,
    /// The result.
    pub result: SavedResult,
    /// The provenance of the answers, or of the failure.
    pub provenance: Provenance,
}
