//! Drift: how the answers of a prism differ between two windows of time, without marks, and whether
//! the difference is more than chance.
//!
//! Results are added to a [`result_tally::ResultTally`] for each stretch of time, tallies of
//! adjacent stretches are added up, and [`question_drift::QuestionDrift`] compares the tallies of
//! two windows. Since a tally has the whole percents of yes, the cutoffs of a lens are applied when
//! windows are compared: another lens changes both windows alike and is no drift.

pub mod alarm;
mod answer_groups;
pub(crate) mod chance;
pub mod question_drift;
pub mod requirement;
pub mod result_tally;

pub use self::alarm::{Alarm, AlarmCause, NEWEST_RESULTS, WatchedQuestion, WatchedSpan, alarms};
pub use self::question_drift::{OutcomeShare, QuestionDrift, ShareChange};
pub use self::requirement::{DriftRequirement, RequiredFigures};
pub use self::result_tally::{AnswerTally, ResultTally, TalliedResult};
