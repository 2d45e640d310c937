//! Marks: the correct outcomes of saved results, as judged by people. They are imported from the
//! rows of a file and exported as rows.
//!
//! An import checks every row before anything is saved: [`Marks::check`] returns either marks that
//! are ready to be saved, or every fault. Its memory grows with the marks of the file, not with the
//! results of the prism.

mod check;
mod columns;
mod errors;
mod export;
mod find_results;
mod mark_result;
mod origin;
mod questions;
mod review;
mod rows;
mod stated_outcomes;

pub use self::check::{CheckedMarks, MarksError};
pub use self::columns::{MarkedColumns, MarkedNameTaken};
pub use self::errors::{MarkError, MarkErrors};
pub use self::mark_result::MarkChange;
pub use self::origin::MarkOrigin;
pub use self::review::{
    Judgement, JudgementInput, MeasuredSoFar, NextToReview, QueueKind, REVIEWED_NEWEST, ReviewFrom,
    ReviewItem, ReviewQueue, ReviewStep, Sitting,
};
pub use self::rows::{MarkCell, MarksRow, NamedResult};

use crate::Refract;

/// The use cases of marks, from [`Refract::marks`](crate::Refract::marks).
#[derive(Clone, Copy)]
pub struct Marks<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Marks: the correct outcomes of saved results, as people state them.
    pub fn marks(&self) -> Marks<'_> {
        Marks { refract: self }
    }
}
