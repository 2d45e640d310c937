//! New rows of stored file runs.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::event::EventStamp;
use refract_domain::ids::{AccountId, FileRunId, PersonId, PrismId, UploadId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::file_run::FileRunState;

use crate::schema::file_runs;
use crate::schema::sql_types::Bind;

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
    /// Which column is which field, as the use case wrote it.
    pub mappings: String,
    /// The progress before the first row, as the use case wrote it.
    pub progress: String,
}

#[derive(Insertable)]
#[diesel(table_name = file_runs)]
#[diesel(treat_none_as_default_value = false)]
pub(super) struct NewFileRunColumns {
    #[diesel(serialize_as = Bind<FileRunId>)]
    id: FileRunId,
    #[diesel(serialize_as = Bind<AccountId>)]
    account_id: AccountId,
    #[diesel(serialize_as = Bind<PrismId>)]
    prism_id: PrismId,
    version: i32,
    upload_id: Option<UploadId>,
    file_name: String,
    file_sha256: String,
    mappings: String,
    state: &'static str,
    progress: String,
    made_by: Option<PersonId>,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    made_at: DateTime<Utc>,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    changed_at: DateTime<Utc>,
    fence: i64,
}

impl NewFileRunColumns {
    /// The columns of a new run, which has never had a lease.
    pub(super) fn of(
        new: &NewFileRun,
        stamp: &EventStamp,
        file_name: String,
        file_sha256: String,
    ) -> Self {
        Self {
            id: new.id,
            account_id: stamp.account,
            prism_id: new.prism,
            version: new.version.get(),
            upload_id: Some(new.upload),
            file_name,
            file_sha256,
            mappings: new.mappings.clone(),
            state: FileRunState::Matching.name(),
            progress: new.progress.clone(),
            made_by: stamp.actor.person(),
            made_at: stamp.at,
            changed_at: stamp.at,
            fence: 0,
        }
    }
}
