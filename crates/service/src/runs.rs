//! File runs: one prism version answers row after row, with keys by which a later run finds the
//! results. A file is read by the terminal, or is uploaded and run by whichever node takes the run.

mod change_run;
mod pinned_prism;
mod run_lease;
mod stored_bytes;
mod stored_runs;
mod upload_writer;
mod uploads;

pub use refract_domain::result::{RunProgress, StoredMapping};
pub use refract_persistence::RunEnd;

use crate::Refract;
pub use crate::asking::{
    AskedTexts, AskingPace, BegunTexts, EarlyEnd, FailureStreak, TextBegun, failure_threshold,
};
use refract_boxed_futures::boxed;

pub use self::change_run::ChangeRunOutcome;
pub use self::pinned_prism::{HeldRow, PinnedPrism, RunFacts, RunRows, UnansweredRow};
pub use self::run_lease::LeasedRun;
pub use self::stored_bytes::{StoredBytes, StoredBytesReader};
pub use self::stored_runs::{CreateRunError, NewStoredRun, RunPage, StoredRun};
pub use self::upload_writer::{FileName, UploadError, UploadWriter};
pub use self::uploads::{DeleteUploadOutcome, Upload};

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

#[boxed]
impl Runs<'_> {
    /// Waits until a person of this node has changed a file run, which may need a node now.
    pub async fn changed(self) {
        self.refract.run_waits.notified().await;
    }
}
