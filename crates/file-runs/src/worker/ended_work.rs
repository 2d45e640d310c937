//! How the work under a lease ended, and what becomes of the run: a run whose model is away pauses,
//! with exponential backoff that has an end.

use std::time::Duration;

use refract_domain::result::file_run::FileRunState;
use refract_service::CallError;
use refract_service::runs::RunEnd;

use crate::check::FileCheckError;
use crate::file_run::OpenRunError;
use crate::input::{InputError, WorkbookError};
use crate::run::RunError;

/// The first pause.
const FIRST: Duration = Duration::from_secs(15);
/// The longest pause.
const LONGEST: Duration = Duration::from_mins(5);
/// Pauses in a row after which the run waits for a person: together about half an hour.
const MOST: u32 = 10;

/// Why the work under a lease ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkError {
    /// The uploaded file was deleted.
    #[error("the uploaded file was deleted, so its rows cannot be read")]
    NoFile,
    /// The prism cannot answer.
    #[error(transparent)]
    Prism(CallError),
    /// The file cannot be run.
    #[error(transparent)]
    Open(#[from] OpenRunError),
    /// The check of the file failed.
    #[error(transparent)]
    Check(#[from] FileCheckError),
    /// The run stopped early.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A thread that read the file has ended, which is a bug.
    #[error("the thread that read the file broke off")]
    Lost,
}

/// What becomes of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A node takes it again when the lease is free: the database failed, or this node stops.
    AnotherTry,
    /// It waits for a person, who reads this reason.
    Paused(String),
    /// Its file cannot be read, for this reason.
    Broken(String),
}

impl WorkError {
    /// What becomes of the run.
    pub(crate) fn fate(&self) -> Fate {
        match self {
            Self::NoFile | Self::Open(OpenRunError::Mapping(_)) => Fate::Broken(self.to_string()),
            Self::Prism(error) => fate_of_call(error, self.to_string()),
            Self::Open(OpenRunError::Input(error)) | Self::Check(FileCheckError::Input(error)) => {
                fate_of_input(error)
            }
            Self::Check(FileCheckError::Lookup { refusal }) => {
                fate_of_call(refusal, self.to_string())
            }
            Self::Check(FileCheckError::Lost) | Self::Lost => Fate::AnotherTry,
            Self::Run(error) => fate_of_run(error),
        }
    }
}

fn fate_of_run(error: &RunError) -> Fate {
    match error {
        RunError::Asked
        | RunError::Unrecorded { .. }
        | RunError::NoThreads(_)
        | RunError::Lost { .. } => Fate::AnotherTry,
        RunError::ModelAway { .. }
        | RunError::CreditUsedUp { .. }
        | RunError::LimitReached { .. }
        | RunError::BudgetUsedUp(_)
        | RunError::Archived { .. }
        | RunError::Output { .. }
        | RunError::RefusedList { .. } => Fate::Paused(error.to_string()),
        RunError::Row { refusal, .. } => fate_of_call(refusal, error.to_string()),
        RunError::Input(error) => fate_of_input(error),
    }
}

fn fate_of_call(error: &CallError, reason: String) -> Fate {
    match error {
        CallError::Internal(_) => Fate::AnotherTry,
        CallError::PrismNotFound => {
            Fate::Paused("the prism is archived: restore it, then go on".to_owned())
        }
        CallError::InvalidApiKey
        | CallError::VersionNotFound
        | CallError::ResultNotFound
        | CallError::HeldByAnotherPrism(_)
        | CallError::Retry(_)
        | CallError::Fields(_)
        | CallError::OverBudget(_) => Fate::Paused(reason),
    }
}

/// Stored pieces of a file can only be unreadable because the database failed, and a workbook can
/// only be in other workbooks' way for a while; everything else is in the file itself.
fn fate_of_input(error: &InputError) -> Fate {
    match error {
        InputError::Unopened(_)
        | InputError::Unreadable { .. }
        | InputError::Unkept { .. }
        | InputError::Workbook(WorkbookError::Busy) => Fate::AnotherTry,
        InputError::Folder
        | InputError::Workbook(_)
        | InputError::Empty
        | InputError::EmptySheet { .. }
        | InputError::Binary(_)
        | InputError::NotText { .. }
        | InputError::WrongCells { .. }
        | InputError::Quote(_)
        | InputError::TooLong { .. }
        | InputError::NotJson { .. }
        | InputError::NoJsonNumber { .. }
        | InputError::CutJson { .. }
        | InputError::WrappedRows { .. }
        | InputError::NotAnObject { .. }
        | InputError::HeaderBelow { .. }
        | InputError::AllBlank { .. }
        | InputError::Missing { .. }
        | InputError::Nested { .. }
        | InputError::Twice(_)
        | InputError::NotBuilt(_)
        | InputError::NoSheets { .. }
        | InputError::NoSuchSheet { .. }
        | InputError::DamagedParquet { .. }
        | InputError::ParquetCompression
        | InputError::LongParquetRow { .. }
        | InputError::CutOff { .. }
        | InputError::Changed { .. } => Fate::Broken(error.to_string()),
    }
}

impl Fate {
    /// The end of the lease.
    pub(crate) fn into_end(self) -> RunEnd {
        let (state, reason) = match self {
            Self::AnotherTry => (None, None),
            Self::Paused(reason) => (Some(FileRunState::Paused), Some(reason)),
            Self::Broken(reason) => (Some(FileRunState::Broken), Some(reason)),
        };
        RunEnd {
            state,
            reason,
            check: None,
        }
    }
}

/// The pauses since the model answered last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pauses {
    taken: u32,
    /// Rows that were answered when the last pause began.
    answered: u64,
}

impl Pauses {
    /// The next pause; `None` if a person must decide. A row that was answered since the last pause
    /// ends the sequence.
    pub(crate) fn next(&mut self, answered: u64) -> Option<Duration> {
        if answered > self.answered {
            self.taken = 0;
        }
        self.answered = answered;
        if self.taken == MOST {
            return None;
        }
        let pause = FIRST.saturating_mul(1 << self.taken).min(LONGEST);
        self.taken += 1;
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_a_person_must_decide() {
        let mut pauses = Pauses::default();
        let taken: Vec<_> = std::iter::from_fn(|| pauses.next(7)).collect();
        assert_eq!(taken.len(), 10);
        assert_eq!(taken[..3], [15, 30, 60].map(Duration::from_secs));
        assert_eq!(taken[9], LONGEST);
        let together: Duration = taken.iter().sum();
        assert!(together > Duration::from_mins(25) && together < Duration::from_mins(40));
    }

    #[test]
    fn an_answer_begins_the_sequence_anew() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.next(0), Some(FIRST));
        assert_eq!(pauses.next(0), Some(FIRST * 2));
        assert_eq!(pauses.next(1), Some(FIRST));
        assert_eq!(pauses.next(1), Some(FIRST * 2));
    }
}
