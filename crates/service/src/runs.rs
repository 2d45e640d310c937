//! File runs: one prism version answers row after row, with keys by which a later run finds the
//! results.

mod asked_texts;
mod pinned_prism;

pub use self::asked_texts::{AskedTexts, AskingPace, EarlyEnd, failure_threshold};
pub use self::pinned_prism::{HeldRow, PinnedPrism, RunFacts, RunRows, UnansweredRow};
use crate::Refract;

/// The use cases of file runs, from [`Refract::runs`](crate::Refract::runs).
#[derive(Clone, Copy)]
pub struct Runs<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// File runs.
    pub fn runs(&self) -> Runs<'_> {
        Runs { refract: self }
    }
}
