//! The rows of stored file runs.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::ids::{AccountId, FileRunId, PersonId, PrismId, UploadId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::file_run::{FileRunLimits, FileRunState};

use crate::error::PersistenceError;
use crate::schema::{file_runs, prisms};

/// A stored file run, with the slug and the name of its prism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRunRow {
    /// `UUIDv7`.
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
    /// Which column is which field, as the use case wrote it.
    pub mappings: String,
    /// What the run is doing.
    pub state: FileRunState,
    /// Why the run paused by itself or broke.
    pub reason: Option<String>,
    /// When the run pauses by itself.
    pub limits: FileRunLimits,
    /// What the check of the whole file found, as the worker wrote it.
    pub check: Option<String>,
    /// Counts of rows, as the use case wrote them.
    pub progress: String,
    /// The person who made the run; `None` for the terminal.
    pub made_by: Option<PersonId>,
    /// When the run was made.
    pub made_at: DateTime<Utc>,
    /// When the run was first started.
    pub started_at: Option<DateTime<Utc>>,
    /// When the run ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Until when a node holds the run, at the latest.
    pub lease_until: Option<DateTime<Utc>>,
}

/// The columns of a file run, and its prism's slug and name.
#[derive(Queryable, Selectable)]
#[diesel(table_name = file_runs)]
pub(crate) struct FileRunColumns {
    id: FileRunId,
    account_id: AccountId,
    prism_id: PrismId,
    #[diesel(select_expression = prisms::slug)]
    prism_slug: String,
    #[diesel(select_expression = prisms::name)]
    prism_name: String,
    version: i32,
    upload_id: Option<UploadId>,
    file_name: String,
    file_sha256: String,
    mappings: String,
    state: String,
    reason: Option<String>,
    most_model_requests: Option<i64>,
    most_tokens: Option<i64>,
    most_failed_rows: Option<i64>,
    file_check: Option<String>,
    progress: String,
    made_by: Option<PersonId>,
    made_at: DateTime<Utc>,
    started_at: Option<DateTime<Utc>>,
    ended_at: Option<DateTime<Utc>>,
    lease_until: Option<DateTime<Utc>>,
}

impl TryFrom<FileRunColumns> for FileRunRow {
    type Error = PersistenceError;

    fn try_from(columns: FileRunColumns) -> Result<Self, PersistenceError> {
        let unreadable = |column| PersistenceError::Unreadable { column };
        let version = VersionNumber::new(columns.version);
        Ok(Self {
            id: columns.id,
            account: columns.account_id,
            prism: columns.prism_id,
            prism_slug: columns.prism_slug,
            prism_name: columns.prism_name,
            version: version.ok_or(unreadable("file_runs.version"))?,
            upload: columns.upload_id,
            file_name: columns.file_name,
            file_sha256: columns.file_sha256,
            mappings: columns.mappings,
            state: saved_state(&columns.state)?,
            reason: columns.reason,
            limits: saved_limits((
                columns.most_model_requests,
                columns.most_tokens,
                columns.most_failed_rows,
            )),
            check: columns.file_check,
            progress: columns.progress,
            made_by: columns.made_by,
            made_at: columns.made_at,
            started_at: columns.started_at,
            ended_at: columns.ended_at,
            lease_until: columns.lease_until,
        })
    }
}

/// The state that a row names.
pub(super) fn saved_state(name: &str) -> Result<FileRunState, PersistenceError> {
    let column = "file_runs.state";
    FileRunState::parse(name).ok_or(PersistenceError::Unreadable { column })
}

/// The three columns of limits.
pub(super) type LimitColumns = (Option<i64>, Option<i64>, Option<i64>);

/// The limits of a row.
pub(super) fn saved_limits((requests, tokens, rows): LimitColumns) -> FileRunLimits {
    let number = |saved: Option<i64>| saved.and_then(|number| u64::try_from(number).ok());
    FileRunLimits {
        model_requests: number(requests),
        tokens: number(tokens),
        failed_rows: number(rows),
    }
}

/// The columns of limits.
pub(super) fn limit_columns(limits: FileRunLimits) -> LimitColumns {
    let number = |limit: Option<u64>| limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    (
        number(limits.model_requests),
        number(limits.tokens),
        number(limits.failed_rows),
    )
}
