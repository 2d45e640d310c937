//! Questions of results that a person could not decide.

use chrono::{DateTime, Utc};

use super::{MarkNote, Marker};
use crate::ids::ResultId;
use crate::key::QuestionKey;

/// A person's judgement that the text does not decide a question. It is no mark: it has no outcome,
/// and no measure counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abstention {
    /// The result, which is `ok`.
    pub result: ResultId,
    /// A question of the version that answered.
    pub question: QuestionKey,
    /// The name of the person; `None` when no name was given.
    pub abstained_by: Option<Marker>,
    /// When the person abstained, in whole milliseconds.
    pub abstained_at: DateTime<Utc>,
    /// What the person noted.
    pub note: Option<MarkNote>,
}
