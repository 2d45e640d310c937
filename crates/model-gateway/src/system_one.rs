//! The protocol `systemone`: typed questions in, probabilities out, all questions in one request.
//!
//! Source: the System One format of decision models. [`request`] writes it, [`reading`]
//! reads it; neither knows connections.

mod reading;
pub(crate) mod request;

use crate::failure::ModelFailure;
use crate::typed_questions::TypedFormat;

/// The System One format.
pub(crate) const FORMAT: TypedFormat = TypedFormat {
    split: request::split,
    read: reading::read,
    malformed: ModelFailure::NotSystemOne,
};
