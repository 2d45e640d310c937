//! Runs of uploaded files: the states of a run, which change leads from which state to which, and
//! how far a run came.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The state of a stored file run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileRunState {
    /// The file is stored; a person has yet to match its columns to the fields of the prism.
    Matching,
    /// A node reads the whole file and prices it.
    Checking,
    /// The file is checked; a person decides how to continue.
    Ready,
    /// A node answers the first rows; the run is ready again afterwards.
    Previewing,
    /// A node answers the rows.
    Running,
    /// Nobody works on the run, because a person paused it or the run paused by itself: at a limit,
    /// or while the model is away.
    Paused,
    /// Every row has a result or is refused.
    Done,
    /// A person ended the run before its last row.
    Cancelled,
    /// The file cannot be read.
    Broken,
}

/// A change of a stored file run that a person makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileRunChange {
    /// Match the columns of the file again.
    Match,
    /// Read the whole file and price it.
    Check,
    /// Answer the first rows.
    Preview,
    /// Answer all rows.
    Start,
    /// Stop until a person resumes the run.
    Pause,
    /// Continue a paused run.
    Resume,
    /// Continue with the first row, and retry the rows that failed.
    RetryFailed,
    /// End the run before its last row.
    Cancel,
}

/// The limits at which a stored file run pauses by itself; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileRunLimits {
    /// Most model requests.
    pub model_requests: Option<u64>,
    /// Most tokens, read and written ones together.
    pub tokens: Option<u64>,
    /// Most rows that fail.
    pub failed_rows: Option<u64>,
}

/// Which column of a file is which field of a prism.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredMapping {
    /// The column, as the file's header names it.
    pub column: String,
    /// The field's key.
    pub field: String,
}

/// The progress of a stored file run: counts of rows, and what they cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunProgress {
    /// Rows of the file, without refused ones.
    pub rows: u64,
    /// Rows that a limit refuses.
    pub refused: u64,
    /// Rows that were answered before this run, or before it was started again.
    pub answered_before: u64,
    /// Rows that this run answered.
    pub answered: u64,
    /// Rows that failed.
    pub failed: u64,
    /// Model requests.
    pub model_requests: u64,
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Rows whose text the model server cut.
    pub truncated: u64,
    /// Rows a minute at the present pace; `None` where there is none yet.
    pub rows_a_minute: Option<u64>,
    /// The number of the last row before which every row is answered, failed or refused: a node that
    /// takes over begins after it.
    pub done_to_row: u64,
    /// Failed rows by cause.
    pub failures: Vec<(String, u64)>,
    /// The failed rows for which the run was started again; 0 for a first pass.
    pub to_retry: u64,
}

impl RunProgress {
    /// The progress before the first row of a run that is started again: the size of the file and
    /// what the run cost stay.
    #[must_use]
    pub fn started_again(&self) -> Self {
        Self {
            refused: 0,
            answered_before: 0,
            answered: 0,
            failed: 0,
            truncated: 0,
            rows_a_minute: None,
            done_to_row: 0,
            failures: Vec::new(),
            to_retry: self.failed,
            ..self.clone()
        }
    }
}

impl FileRunState {
    /// Every state.
    pub const ALL: [Self; 9] = [
        Self::Matching,
        Self::Checking,
        Self::Ready,
        Self::Previewing,
        Self::Running,
        Self::Paused,
        Self::Done,
        Self::Cancelled,
        Self::Broken,
    ];

    /// The state's name, such as `running`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matching => "matching",
            Self::Checking => "checking",
            Self::Ready => "ready",
            Self::Previewing => "previewing",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Broken => "broken",
        }
    }

    /// The state with this name; `None` for any other text.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether a node works on the run, or is about to.
    pub const fn is_worked_on(self) -> bool {
        match self {
            Self::Checking | Self::Previewing | Self::Running => true,
            Self::Matching
            | Self::Ready
            | Self::Paused
            | Self::Done
            | Self::Cancelled
            | Self::Broken => false,
        }
    }

    /// Whether the run ended: in full, by a person, or because its file cannot be read.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Done | Self::Cancelled | Self::Broken => true,
            Self::Matching
            | Self::Checking
            | Self::Ready
            | Self::Previewing
            | Self::Running
            | Self::Paused => false,
        }
    }

    /// The state after a person's change; `None` where this state does not allow the change.
    pub const fn after(self, change: FileRunChange) -> Option<Self> {
        match (change, self) {
            (FileRunChange::Match, Self::Matching | Self::Ready | Self::Broken) => {
                Some(Self::Matching)
            }
            (FileRunChange::Check, Self::Matching | Self::Ready | Self::Broken) => {
                Some(Self::Checking)
            }
            (FileRunChange::Preview, Self::Ready) => Some(Self::Previewing),
            (FileRunChange::Pause, Self::Running) => Some(Self::Paused),
            (FileRunChange::Start, Self::Ready)
            | (FileRunChange::Resume, Self::Paused)
            | (FileRunChange::RetryFailed, Self::Paused | Self::Done) => Some(Self::Running),
            (FileRunChange::Cancel, _) if !self.is_final() => Some(Self::Cancelled),
            (
                FileRunChange::Match
                | FileRunChange::Check
                | FileRunChange::Preview
                | FileRunChange::Start
                | FileRunChange::Pause
                | FileRunChange::Resume
                | FileRunChange::RetryFailed
                | FileRunChange::Cancel,
                _,
            ) => None,
        }
    }

    /// Whether the work of a node on a run in this state may end in that one. It may not once a
    /// person has changed the state, but for a pause that came after the last row.
    pub const fn may_end_as(self, end: Self) -> bool {
        match self {
            Self::Checking => matches!(end, Self::Matching | Self::Ready | Self::Broken),
            Self::Previewing => matches!(end, Self::Ready | Self::Broken),
            Self::Running => matches!(end, Self::Paused | Self::Done | Self::Broken),
            Self::Paused => matches!(end, Self::Done),
            Self::Matching | Self::Ready | Self::Done | Self::Cancelled | Self::Broken => false,
        }
    }
}

impl FileRunChange {
    /// Every change.
    pub const ALL: [Self; 8] = [
        Self::Match,
        Self::Check,
        Self::Preview,
        Self::Start,
        Self::Pause,
        Self::Resume,
        Self::RetryFailed,
        Self::Cancel,
    ];

    /// Whether the change needs the uploaded file.
    pub const fn needs_file(self) -> bool {
        match self {
            Self::Match
            | Self::Check
            | Self::Preview
            | Self::Start
            | Self::Resume
            | Self::RetryFailed => true,
            Self::Pause | Self::Cancel => false,
        }
    }
}

impl fmt::Display for FileRunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole state machine: a row for each state, a column for each change, in the order of
    /// `ALL`; `-` where the state does not allow the change.
    const AFTER: [(&str, &str); 9] = [
        ("matching", "matching checking - - - - - cancelled"),
        ("checking", "- - - - - - - cancelled"),
        (
            "ready",
            "matching checking previewing running - - - cancelled",
        ),
        ("previewing", "- - - - - - - cancelled"),
        ("running", "- - - - paused - - cancelled"),
        ("paused", "- - - - - running running cancelled"),
        ("done", "- - - - - - running -"),
        ("cancelled", "- - - - - - - -"),
        ("broken", "matching checking - - - - - -"),
    ];

    /// The states in which the work of a node may end, by the state of the run.
    const ENDS: [(&str, &str); 4] = [
        ("checking", "matching ready broken"),
        ("previewing", "ready broken"),
        ("running", "paused done broken"),
        ("paused", "done"),
    ];

    #[test]
    fn every_change_leads_where_the_table_shows() {
        assert_eq!(
            AFTER.map(|(state, _)| state),
            FileRunState::ALL.map(FileRunState::name)
        );
        for (name, row) in AFTER {
            let state = FileRunState::parse(name).unwrap();
            let after = FileRunChange::ALL.map(|change| {
                let after = state.after(change);
                after.map_or("-", FileRunState::name)
            });
            assert_eq!(after.join(" "), row, "{name}");
        }
    }

    #[test]
    fn work_ends_in_the_states_of_the_table_and_only_where_a_node_works() {
        for state in FileRunState::ALL {
            let ends = FileRunState::ALL
                .into_iter()
                .filter(|end| state.may_end_as(*end));
            let ends: Vec<_> = ends.map(FileRunState::name).collect();
            let row = ENDS.into_iter().find(|(name, _)| *name == state.name());
            assert_eq!(ends.join(" "), row.map_or("", |(_, ends)| ends), "{state}");
            let is_left = state.is_worked_on() || state == FileRunState::Paused;
            assert_eq!(is_left, row.is_some(), "{state}");
        }
    }

    #[test]
    fn a_final_state_is_left_only_by_starting_over() {
        for state in FileRunState::ALL {
            let can_be_cancelled = state.after(FileRunChange::Cancel).is_some();
            assert_eq!(can_be_cancelled, !state.is_final(), "{state}");
        }
        for change in FileRunChange::ALL {
            assert_eq!(FileRunState::Cancelled.after(change), None);
        }
    }

    #[test]
    fn a_change_that_leads_to_work_needs_the_file() {
        for (state, change) in FileRunState::ALL
            .into_iter()
            .flat_map(|state| FileRunChange::ALL.map(|change| (state, change)))
        {
            let leads_to_work = state.after(change).is_some_and(FileRunState::is_worked_on);
            assert!(!leads_to_work || change.needs_file(), "{state} {change:?}");
        }
        assert_eq!(FileRunState::parse("Running"), None);
    }
}
