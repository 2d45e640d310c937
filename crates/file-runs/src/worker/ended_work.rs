//! How the work under a lease ended, and what becomes of the run.

use refract_domain::result::file_run::FileRunState;
use refract_service::CallError;
use refract_service::runs::RunEnd;

use crate::check::FileCheckError;
use crate::file_run::OpenRunError;
use crate::input::{InputError, WorkbookError};
use crate::run::error::RunError;

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
        | InputError::Twice(_)
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
