//! Why a run ends before the end of its file, and who hears of it.

use std::cell::RefCell;

use tokio::sync::watch;

use super::InputFault;
use crate::Refusal;

/// Why a run ended before the end of its file. Whatever was answered is saved.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// Somebody asked for it.
    #[error("it was stopped")]
    Asked,
    /// The model failed again and again.
    #[error("the model failed {failures} times in a row, from line {line} on: {error}")]
    ModelAway {
        /// How often.
        failures: u64,
        /// The first row of them that ended.
        line: u64,
        /// What the last one's result says.
        error: String,
    },
    /// The prism was archived.
    #[error("line {line}: the prism was archived, so it cannot answer")]
    Archived {
        /// The first row that was not asked about.
        line: u64,
    },
    /// A row could not be asked about or its result not be saved.
    #[error("line {line}: {refusal}{}", cause(.refusal))]
    Row {
        /// The row's.
        line: u64,
        /// Why.
        refusal: Refusal,
    },
    /// The output cannot be written to.
    #[error("line {line}: the output cannot be written: {error}")]
    Output {
        /// Of the row that should have been written.
        line: u64,
        /// Why.
        error: std::io::Error,
    },
    /// The input cannot be read any further.
    #[error(transparent)]
    Input(#[from] InputFault),
    /// The threads that ask could not be started.
    #[error("the threads that ask the model could not be started: {0}")]
    NoThreads(std::io::Error),
    /// A bug.
    #[error("line {line}: the thread that asked is gone")]
    Lost {
        /// The row's.
        line: u64,
    },
}

/// What lies under a refusal that names only the kind of its failure.
fn cause(refusal: &Refusal) -> String {
    let Refusal::Internal(error) = refusal else {
        return String::new();
    };
    std::error::Error::source(error).map_or_else(String::new, |source| format!(": {source}"))
}

/// The first reason to stop, and a way to wait for it.
pub(crate) struct Halt {
    reason: RefCell<Option<Stop>>,
    flag: watch::Sender<bool>,
}

impl Halt {
    pub(crate) fn new() -> Self {
        Self {
            reason: RefCell::new(None),
            flag: watch::Sender::new(false),
        }
    }

    /// The first reason counts.
    pub(crate) fn stop(&self, reason: Stop) {
        self.reason.borrow_mut().get_or_insert(reason);
        self.flag.send_replace(true);
    }

    /// The reason, once.
    pub(crate) fn take(&self) -> Option<Stop> {
        self.reason.take()
    }

    /// Ends when there is a reason.
    pub(crate) async fn stopped(&self) {
        // the sender lives in `self`, so waiting cannot fail
        let _ = self.flag.subscribe().wait_for(|stopped| *stopped).await;
    }
}
