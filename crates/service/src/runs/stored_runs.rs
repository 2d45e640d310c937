//! Makes, finds and lists stored file runs, and saves the event of a download of their rows.

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::ops::Deref;

use chrono::Utc;
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{AccountId, FileRunId, PersonId, PrismId, UploadId};
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_domain::result::StoredMapping;
use refract_identity::people::AccountActor;
use refract_persistence::{
    FileRunRow, FileRunScope, NewFileRun, PersistenceError, Usage, UsageDimension, UsageScope,
};
use uuid::Uuid;

use super::Runs;
use crate::prisms::{check_active, find_version_to_ask};
use crate::results::export_event;
use crate::{CallError, InternalError};

/// Most other runs of a file that are listed.
const RUNS_OF_FILE: u32 = 20;

/// A stored file run as it is shown: a prism version that is asked about every row of an uploaded
/// file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    row: FileRunRow,
    /// The name of the person who made the run.
    pub by: Option<String>,
    /// Whether a node holds the run now.
    pub is_leased: bool,
}

impl Deref for StoredRun {
    type Target = FileRunRow;

    fn deref(&self) -> &FileRunRow {
        &self.row
    }
}

impl StoredRun {
    /// Raises what the run used so far to what its results used.
    pub(super) fn add_lost(&mut self, used: &Usage) {
        let progress = &mut self.row.progress;
        progress.model_requests = progress.model_requests.max(used.model_requests);
        progress.input_tokens = progress.input_tokens.max(used.input_tokens);
        progress.output_tokens = progress.output_tokens.max(used.output_tokens);
    }
}

/// A file run to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewStoredRun {
    /// Its id.
    pub id: FileRunId,
    /// The prism to ask.
    pub prism: PrismId,
    /// The version to ask; `None` for the latest.
    pub version: Option<VersionNumber>,
    /// The file.
    pub upload: UploadId,
    /// Which column is which field.
    pub mappings: Vec<StoredMapping>,
}

/// Why a file run was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateRunError {
    /// The account has no such whole file.
    #[error("the file is gone: upload it again")]
    UploadNotFound,
    /// The account has no such prism, or the prism is archived.
    #[error("Prism not found")]
    PrismNotFound,
    /// The prism has no version of this number.
    #[error("Prism version not found")]
    VersionNotFound,
    /// The service failed.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

/// A page of a list of file runs, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPage {
    /// Only runs that were made before this one; `None` for the newest.
    pub before: Option<FileRunId>,
    /// Most runs.
    pub limit: u32,
}

#[boxed]
impl Runs<'_> {
    /// Makes a file run, which waits for a person to check it, or finds it if it was made before.
    ///
    /// # Errors
    /// When the file, the prism or the version is missing, or the database fails.
    pub async fn create_file_run(
        self,
        actor: &AccountActor,
        new: NewStoredRun,
    ) -> Result<StoredRun, CreateRunError> {
        let database = &self.refract.database;
        let selector = PrismSelector::Id(new.prism);
        let prism = database.find_prism(actor.account(), &selector).await?;
        let prism = check_active(prism)?;
        let version = find_version_to_ask(database, &prism, new.version).await?;
        let id = new.id;
        let row = NewFileRun {
            id,
            prism: prism.id,
            version: version.number,
            upload: new.upload,
            mappings: new.mappings,
        };
        let about = EventDetail::file_run(id).and(&EventDetail::upload(new.upload));
        let stamp = actor.event_stamp().noted(about);
        let event = Event {
            to: Some(EventDetail::version(version.number)),
            ..stamp.event(EventAction::FileRunMade, EventTarget::Prism(prism.id))
        };
        let creating = database.create_file_run(row, event).await;
        // a form that is sent twice makes one run
        let made = self.find_file_run(actor.account(), id).await?;
        match (made, creating) {
            (Some(made), _) => Ok(made),
            (None, Err(error)) => Err(error.into()),
            (None, Ok(_)) => Err(CreateRunError::UploadNotFound),
        }
    }

    /// Finds a file run of the account.
    pub async fn find_file_run(
        self,
        account: AccountId,
        run: FileRunId,
    ) -> Result<Option<StoredRun>, InternalError> {
        let row = self.refract.database.find_file_run(account, run).await?;
        let rows: Vec<FileRunRow> = row.into_iter().collect();
        Ok(self.named(account, rows).await?.pop())
    }

    /// A page of the file runs of the account, or of one prism, newest first.
    pub async fn list_file_runs(
        self,
        account: AccountId,
        prism: Option<PrismId>,
        page: RunPage,
    ) -> Result<Vec<StoredRun>, InternalError> {
        let scope = prism.map_or(FileRunScope::Account, FileRunScope::Prism);
        let before = page.before.unwrap_or(FileRunId::new(Uuid::max()));
        let database = &self.refract.database;
        let listing = database.list_file_runs(account, scope, before, page.limit);
        self.named(account, listing.await?).await
    }

    /// The columns of the newest file run of a prism whose file was checked; none where there is no
    /// such run.
    pub async fn last_mappings(
        self,
        account: AccountId,
        prism: PrismId,
    ) -> Result<Vec<StoredMapping>, InternalError> {
        let database = &self.refract.database;
        let found = database.find_checked_mappings(account, prism).await?;
        Ok(found.unwrap_or_default())
    }

    /// The newest other runs of the same prism and an equal file, newest first, at most 20.
    pub async fn runs_of_same_file(
        self,
        account: AccountId,
        run: &StoredRun,
    ) -> Result<Vec<StoredRun>, InternalError> {
        let database = &self.refract.database;
        let sha256 = run.file_sha256.clone();
        let listing = database.list_runs_of_file(account, run.prism, sha256, RUNS_OF_FILE + 1);
        let mut rows = listing.await?;
        rows.retain(|row| row.id != run.id);
        let mut runs = self.named(account, rows).await?;
        runs.truncate(usize::try_from(RUNS_OF_FILE).unwrap_or(usize::MAX));
        Ok(runs)
    }

    /// Rows with the names of the people who made them.
    pub(super) async fn named(
        self,
        account: AccountId,
        rows: Vec<FileRunRow>,
    ) -> Result<Vec<StoredRun>, InternalError> {
        let people: Vec<PersonId> = rows.iter().filter_map(|row| row.made_by).collect();
        let names: HashMap<_, _> = self.refract.people().names(account, &people).await?;
        let now = self.refract.database.time(Utc::now()).await?;
        let runs = rows.into_iter().map(|row| {
            let by = row.made_by.and_then(|person| names.get(&person));
            let by = by.map(ToString::to_string);
            StoredRun {
                is_leased: row.lease_until.is_some_and(|until| until > now),
                row,
                by,
            }
        });
        Ok(runs.collect())
    }
}

impl From<PersistenceError> for CreateRunError {
    fn from(error: PersistenceError) -> Self {
        Self::Internal(error.into())
    }
}

impl From<CallError> for CreateRunError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::VersionNotFound => Self::VersionNotFound,
            CallError::Internal(error) => Self::Internal(error),
            CallError::InvalidApiKey
            | CallError::PrismNotFound
            | CallError::ResultNotFound
            | CallError::HeldByAnotherPrism(_)
            | CallError::Retry(_)
            | CallError::Fields(_)
            | CallError::OverBudget(_) => Self::PrismNotFound,
        }
    }
}

#[boxed]
impl Runs<'_> {
    /// Saves the event that somebody downloads the rows of a run, before the first byte is sent.
    pub async fn save_download(
        self,
        actor: &AccountActor,
        run: &StoredRun,
        format: &'static str,
    ) -> Result<(), InternalError> {
        let what = EventDetail::list(&[format.into(), EventDetail::file_run(run.id)]);
        let action = EventAction::ResultsExported;
        let database = &self.refract.database;
        Ok(export_event::save(database, actor, action, run.prism, what).await?)
    }

    /// What the results of a run used, deleted ones among them.
    pub async fn usage(self, run: &StoredRun) -> Result<Usage, InternalError> {
        let scope = UsageScope {
            by: [UsageDimension::Run].into(),
            prism: Some(run.prism),
            since: Some(run.made_at),
            ..UsageScope::default()
        };
        let groups = self.refract.database.list_usage(run.account, scope).await?;
        let of_run = groups.iter().find(|group| group.file_run == Some(run.id));
        Ok(of_run.map(|group| group.usage).unwrap_or_default())
    }
}
