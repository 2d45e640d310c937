//! The rows of stored file runs.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::ids::{AccountId, FileRunId, PersonId, PrismId, UploadId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::file_run::{FileRunLimits, FileRunState, RunProgress, StoredMapping};

use crate::schema::stored::Stored;
use crate::schema::{file_runs, prisms};

/// A file run to be made, in the account, by the actor and at the moment of its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFileRun {
    /// `UUIDv7`.
    pub id: FileRunId,
    /// The prism that is asked.
    pub prism: PrismId,
    /// The version that is asked.
    pub version: VersionNumber,
    /// The file.
    pub upload: UploadId,
    /// Which column is which field.
    pub mappings: Vec<StoredMapping>,
}

/// A stored file run, with the slug and the name of its prism.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = file_runs)]
pub struct FileRunRow {
    /// `UUIDv7`.
    pub id: FileRunId,
    /// The account that the run belongs to.
    #[diesel(column_name = account_id)]
    pub account: AccountId,
    /// The prism that is asked.
    #[diesel(column_name = prism_id)]
    pub prism: PrismId,
    /// The prism's slug.
    #[diesel(select_expression = prisms::slug)]
    pub prism_slug: String,
    /// The prism's name.
    #[diesel(select_expression = prisms::name)]
    pub prism_name: String,
    /// The version that is asked.
    #[diesel(deserialize_as = Stored<file_runs::version>)]
    pub version: VersionNumber,
    /// The file; `None` once it was deleted.
    #[diesel(column_name = upload_id)]
    pub upload: Option<UploadId>,
    /// The file's name.
    pub file_name: String,
    /// SHA-256 of the file, in hexadecimal.
    pub file_sha256: String,
    /// Which column is which field.
    #[diesel(deserialize_as = Stored<file_runs::mappings>)]
    pub mappings: Vec<StoredMapping>,
    /// What the run is doing.
    #[diesel(deserialize_as = Stored<file_runs::state>)]
    pub state: FileRunState,
    /// Why the run paused by itself or broke; `None` otherwise.
    pub reason: Option<String>,
    /// When the run pauses by itself.
    #[diesel(select_expression = LIMITS, select_expression_type = LimitColumns)]
    #[diesel(deserialize_as = Stored<LimitColumns>)]
    pub limits: FileRunLimits,
    /// What the check of the whole file found, as the worker wrote it; `None` until then.
    #[diesel(column_name = file_check)]
    pub check: Option<String>,
    /// Counts of rows.
    #[diesel(deserialize_as = Stored<file_runs::progress>)]
    pub progress: RunProgress,
    /// The person who made the run, and makes its results; `None` for the terminal.
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

/// The columns of limits.
pub(super) type LimitColumns = (
    file_runs::most_model_requests,
    file_runs::most_tokens,
    file_runs::most_failed_rows,
);

pub(super) const LIMITS: LimitColumns = (
    file_runs::most_model_requests,
    file_runs::most_tokens,
    file_runs::most_failed_rows,
);

impl From<Stored<LimitColumns>> for FileRunLimits {
    fn from(Stored((requests, tokens, rows)): Stored<LimitColumns>) -> Self {
        let number = |saved: Option<i64>| saved.and_then(|number| u64::try_from(number).ok());
        Self {
            model_requests: number(requests),
            tokens: number(tokens),
            failed_rows: number(rows),
        }
    }
}

/// The values of the columns of limits.
pub(super) fn limit_values(limits: FileRunLimits) -> (Option<i64>, Option<i64>, Option<i64>) {
    let number = |limit: Option<u64>| limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    (
        number(limits.model_requests),
        number(limits.tokens),
        number(limits.failed_rows),
    )
}
