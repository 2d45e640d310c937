//! Stored file runs as they are shown.

use chrono::{DateTime, Utc};
use refract_domain::ids::{AccountId, FileRunId, PersonId, PrismId, UploadId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::file_run::{FileRunLimits, FileRunState};
use refract_persistence::{FileRunRow, PersistenceError};
use serde::{Deserialize, Serialize};

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

/// A stored file run: a prism version that is asked about every row of an uploaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// The run's id.
    pub id: FileRunId,
    /// The account that the run belongs to.
    pub account: AccountId,
    /// The prism that is asked.
    pub prism: PrismId,
    /// The prism's slug.
    pub prism_slug: String,
    /// The prism's name.
    pub prism_name: String,
    /// The version that is asked.
    pub version: VersionNumber,
    /// The file; `None` once it was deleted.
    pub upload: Option<UploadId>,
    /// The file's name.
    pub file_name: String,
    /// SHA-256 of the file, in hexadecimal.
    pub file_sha256: String,
    /// Which column is which field.
    pub mappings: Vec<StoredMapping>,
    /// What the run is doing.
    pub state: FileRunState,
    /// Why the run paused by itself or broke; `None` otherwise.
    pub reason: Option<String>,
    /// When the run pauses by itself.
    pub limits: FileRunLimits,
    /// What the check of the whole file found, as the worker wrote it; `None` until then.
    pub check: Option<String>,
    /// Counts of rows.
    pub progress: RunProgress,
    /// The person who made the run, and makes its results; `None` for the terminal.
    pub person: Option<PersonId>,
    /// The name of that person.
    pub by: Option<String>,
    /// When the run was made.
    pub made_at: DateTime<Utc>,
    /// When the run was first started.
    pub started_at: Option<DateTime<Utc>>,
    /// When the run ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Whether a node holds the run now.
    pub is_leased: bool,
}

impl RunProgress {
    /// The progress before the first row of a run that is started again: the size of the file and
    /// what the run cost stay.
    pub(super) fn started_again(&self) -> Self {
        Self {
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

    pub(super) fn to_json(&self) -> Result<String, PersistenceError> {
        to_json(self)
    }
}

impl StoredRun {
    pub(super) fn of(
        row: FileRunRow,
        by: Option<String>,
        now: DateTime<Utc>,
    ) -> Result<Self, PersistenceError> {
        let unreadable = |column| PersistenceError::Unreadable { column };
        let progress = serde_json::from_str(&row.progress);
        Ok(Self {
            id: row.id,
            account: row.account,
            prism: row.prism,
            prism_slug: row.prism_slug,
            prism_name: row.prism_name,
            version: row.version,
            upload: row.upload,
            file_name: row.file_name,
            file_sha256: row.file_sha256,
            mappings: mappings_of(&row.mappings)?,
            state: row.state,
            reason: row.reason,
            limits: row.limits,
            check: row.check,
            progress: progress.map_err(|_| unreadable("file_runs.progress"))?,
            person: row.made_by,
            by,
            made_at: row.made_at,
            started_at: row.started_at,
            ended_at: row.ended_at,
            is_leased: row.lease_until.is_some_and(|until| until > now),
        })
    }
}

/// The mappings in their column.
pub(super) fn mappings_of(json: &str) -> Result<Vec<StoredMapping>, PersistenceError> {
    let column = "file_runs.mappings";
    serde_json::from_str(json).map_err(|_| PersistenceError::Unreadable { column })
}

/// The value of a column with JSON.
pub(super) fn to_json(value: &impl Serialize) -> Result<String, PersistenceError> {
    let written = serde_json::to_string(value);
    written.map_err(|_| PersistenceError::Refused("a file run has no JSON".to_owned()))
}
