//! A call that may go to the model.

use refract_domain::ids::{PrismId, ResultId};
use refract_domain::result::SavedResult;
use refract_domain::submission::Submission;
use refract_domain::submission::reference::{IdempotencyKey, Ref};

use crate::people::accounts::AccountActor;
use crate::prisms::versions::NumberedVersion;

/// A create or retry that passed every check.
pub(crate) struct CheckedCall {
    pub(crate) actor: AccountActor,
    pub(crate) prism: PrismId,
    pub(crate) asked: NumberedVersion,
    pub(crate) submission: Submission,
    pub(crate) reference: Option<Ref>,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
    /// The failed result that is retried.
    pub(crate) retry_of: Option<ResultId>,
}

impl CheckedCall {
    /// The retry of a failed result, which sends its stored values again (spec 4.3).
    pub(crate) fn retry(actor: AccountActor, failed: SavedResult, asked: NumberedVersion) -> Self {
        Self {
            actor,
            prism: failed.prism,
            asked,
            submission: failed.submission,
            reference: failed.reference,
            idempotency_key: failed.idempotency_key,
            retry_of: Some(failed.id),
        }
    }
}
