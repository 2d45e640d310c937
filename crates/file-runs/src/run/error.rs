//! Why a run stops before the end of its file, and the signal that stops its stages.

use refract_service::CallError;
use refract_service::results::BudgetUsedUp;
use refract_service::runs::FailureStreak;
use tokio::sync::SetOnce;

use crate::input::InputError;
use crate::run::settings::ReachedLimit;

/// Why a run stopped before the end of its file. All answers until then are saved.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The caller asked to stop.
    #[error("it was stopped")]
    Asked,
    /// The number of consecutive failed rows reached the threshold.
    #[error("the model failed {failures} times in a row, from line {line} on: {error}")]
    ModelAway {
        /// Number of consecutive failed rows.
        failures: u64,
        /// The line of the first failed row.
        line: u64,
        /// The error of the last failed row.
        error: String,
    },
    /// The host's credit or quota is used up: every further row would fail alike.
    #[error("line {line}: {error}")]
    CreditUsedUp {
        /// The line of the row that failed for it.
        line: u64,
        /// The error of the row.
        error: String,
    },
    /// The run reached a limit that was set for it.
    #[error("line {line}: the limit of {limit} is reached")]
    LimitReached {
        /// The line of the first row that the run did not reach.
        line: u64,
        /// The limit.
        limit: ReachedLimit,
    },
    /// The month's budget of the account is used up.
    #[error(transparent)]
    BudgetUsedUp(#[from] BudgetUsedUp),
    /// The prism was archived.
    #[error("line {line}: the prism was archived, so it cannot answer")]
    Archived {
        /// The line of the first row that the run did not reach.
        line: u64,
    },
    /// The use case refused a row or failed.
    #[error("line {line}: {refusal}{}", cause(.refusal))]
    Row {
        /// The line of the row.
        line: u64,
        /// The reason.
        refusal: CallError,
    },
    /// An event for the beginning or the end of the run could not be saved.
    #[error("the event of the run cannot be saved{}", cause(.refusal))]
    Unrecorded {
        /// The reason.
        refusal: CallError,
    },
    /// Writing the output failed.
    #[error("line {line}: the output cannot be written: {error}")]
    Output {
        /// The line of the row that could not be written.
        line: u64,
        /// The error of the output.
        error: std::io::Error,
    },
    /// Writing the list of refused rows failed.
    #[error("line {line}: the list of refused rows cannot be written: {error}")]
    RefusedList {
        /// The line of the row that could not be listed.
        line: u64,
        /// The error of the list.
        error: std::io::Error,
    },
    /// The rest of the input file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The worker threads could not be started.
    #[error("the threads that ask the model could not be started: {0}")]
    NoThreads(std::io::Error),
    /// A worker thread has ended, which is a bug.
    #[error("line {line}: the thread that asked is gone")]
    Lost {
        /// The line of the row.
        line: u64,
    },
}

impl From<FailureStreak> for RunError {
    fn from(streak: FailureStreak) -> Self {
        let FailureStreak { line, error, .. } = streak;
        if streak.is_credit_used_up {
            return Self::CreditUsedUp { line, error };
        }
        Self::ModelAway {
            failures: streak.failures,
            line,
            error,
        }
    }
}

/// The source of an internal error. The error's own text only names the kind of failure.
pub(crate) fn cause(refusal: &CallError) -> String {
    let CallError::Internal(error) = refusal else {
        return String::new();
    };
    std::error::Error::source(error).map_or_else(String::new, |source| format!(": {source}"))
}

/// Stores the first reason to stop, and lets the stages of a run wait for it.
pub(crate) struct FirstError(SetOnce<RunError>);

impl FirstError {
    pub(crate) fn new() -> Self {
        Self(SetOnce::new())
    }

    /// Stops the run. Only the first reason is kept.
    pub(crate) fn stop(&self, reason: RunError) {
        let _ = self.0.set(reason);
    }

    /// Returns the reason.
    pub(crate) fn take(self) -> Option<RunError> {
        self.0.into_inner()
    }

    /// Waits until there is a reason to stop.
    pub(crate) async fn stopped(&self) {
        self.0.wait().await;
    }
}
