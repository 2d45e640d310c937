//! The protocol `decisions`: typed questions in, probabilities out, all questions in one request.
//!
//! Source: the OpenAI Decisions format. [`request`] writes it, [`reading`] reads it; neither knows
//! connections.

mod reading;
pub(crate) mod request;

use crate::failure::ModelFailure;
use crate::typed_questions::TypedFormat;

/// The OpenAI Decisions format.
pub(crate) const FORMAT: TypedFormat = TypedFormat {
    split: request::split,
    read: reading::read,
    malformed: ModelFailure::NotDecisions,
};
