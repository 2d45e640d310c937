//! Stored file runs: made, found, listed, changed by people, and worked on under a lease. A change by
//! a person names the state that it replaces (compare and swap).

mod lease;

use refract_boxed_futures::boxed;
use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use refract_domain::event::Event;
use refract_domain::ids::{AccountId, FileRunId, PersonId, PrismId, UploadId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::{FileRunLimits, FileRunState, RunProgress, StoredMapping};

pub use self::lease::RunEnd;
pub(super) use self::lease::is_free;
use crate::connections::{find_as, for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::commit_with;
use crate::schema::sql_types::Bind;
use crate::schema::stored::{Stored, to_json};
use crate::schema::{file_runs, prisms, uploads};

/// Which file runs are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRunScope {
    /// Those of all prisms of the account.
    Account,
    /// Those of a prism.
    Prism(PrismId),
}

#[boxed]
impl Database {
    /// Saves a new file run in the state `matching`, with its event. One transaction. Returns
    /// `false` when the account has no such whole upload.
    pub async fn create_file_run(
        &self,
        new: NewFileRun,
        event: Event,
    ) -> Result<bool, PersistenceError> {
        let account = event.stamp.account;
        self.begin(async move |mut tx| {
            let whole = uploads::table
                .find(Bind(new.upload))
                .filter(uploads::account_id.eq(Bind(account)));
            // a deletion of the file waits for this run, or this run finds no whole file
            let whole = for_update(whole.select((uploads::file_name, uploads::sha256)));
            let found: Option<(String, Option<String>)> = on!(tx, get_result(whole)).optional()?;
            let Some((file_name, Some(sha256))) = found else {
                return Ok(false);
            };
            let stamp = &event.stamp;
            let insert = diesel::insert_into(file_runs::table).values((
                file_runs::id.eq(Bind(new.id)),
                file_runs::account_id.eq(Bind(account)),
                file_runs::prism_id.eq(Bind(new.prism)),
                file_runs::version.eq(new.version.get()),
                file_runs::upload_id.eq(Some(new.upload)),
                file_runs::file_name.eq(file_name),
                file_runs::file_sha256.eq(sha256),
                file_runs::mappings.eq(to_json(&new.mappings)?),
                file_runs::state.eq(FileRunState::Matching.name()),
                file_runs::progress.eq(to_json(&RunProgress::default())?),
                file_runs::made_by.eq(stamp.actor.person()),
                file_runs::made_at.eq(Bind(stamp.at)),
                file_runs::changed_at.eq(Bind(stamp.at)),
                file_runs::fence.eq(0),
            ));
            on!(tx, execute(insert))?;
            commit_with(tx, event).await?;
            Ok(true)
        })
        .await
    }

    /// Finds a file run of the account.
    pub async fn find_file_run(
        &self,
        account: AccountId,
        run: FileRunId,
    ) -> Result<Option<FileRunRow>, PersistenceError> {
        let query = file_runs::table
            .inner_join(prisms::table.on(prisms::id.eq(file_runs::prism_id)))
            .filter(file_runs::id.eq(Bind(run)))
            .filter(file_runs::account_id.eq(Bind(account)));
        find_as!(self, query, FileRunRow).await
    }

    /// Up to `limit` file runs of the account before an id, newest first.
    pub async fn list_file_runs(
        &self,
        account: AccountId,
        scope: FileRunScope,
        before: FileRunId,
        limit: u32,
    ) -> Result<Vec<FileRunRow>, PersistenceError> {
        let query = file_runs::table
            .inner_join(prisms::table.on(prisms::id.eq(file_runs::prism_id)))
            .filter(file_runs::account_id.eq(Bind(account)))
            .filter(file_runs::id.lt(Bind(before)))
            .order(file_runs::id.desc())
            .limit(i64::from(limit));
        match scope {
            FileRunScope::Account => load_as!(self, query, FileRunRow).await,
            FileRunScope::Prism(prism) => {
                let query = query.filter(file_runs::prism_id.eq(Bind(prism)));
                load_as!(self, query, FileRunRow).await
            }
        }
    }

    /// The names of the files of these file runs, as far as they are the account's. Makes no query
    /// when there are no runs.
    pub async fn list_file_names(
        &self,
        account: AccountId,
        runs: BTreeSet<FileRunId>,
    ) -> Result<Vec<(FileRunId, String)>, PersistenceError> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<_> = runs.into_iter().map(Bind).collect();
        let query = file_runs::table
            .filter(file_runs::account_id.eq(Bind(account)))
            .filter(file_runs::id.eq_any(wanted))
            .select((file_runs::id, file_runs::file_name));
        self.load(query).await
    }

    /// Up to `limit` file runs of a prism whose files have this SHA-256, newest first.
    pub async fn list_runs_of_file(
        &self,
        account: AccountId,
        prism: PrismId,
        sha256: String,
        limit: u32,
    ) -> Result<Vec<FileRunRow>, PersistenceError> {
        let query = file_runs::table
            .inner_join(prisms::table.on(prisms::id.eq(file_runs::prism_id)))
            .filter(file_runs::account_id.eq(Bind(account)))
            .filter(file_runs::prism_id.eq(Bind(prism)))
            .filter(file_runs::file_sha256.eq(sha256))
            .order(file_runs::id.desc())
            .limit(i64::from(limit));
        load_as!(self, query, FileRunRow).await
    }

    /// The mappings of the newest file run of a prism whose file was checked.
    pub async fn find_checked_mappings(
        &self,
        account: AccountId,
        prism: PrismId,
    ) -> Result<Option<Vec<StoredMapping>>, PersistenceError> {
        let query = file_runs::table
            .filter(file_runs::account_id.eq(Bind(account)))
            .filter(file_runs::prism_id.eq(Bind(prism)))
            .filter(file_runs::file_check.is_not_null())
            .order(file_runs::id.desc())
            .select(file_runs::mappings);
        let found: Option<Stored<file_runs::mappings>> = self.find(query.limit(1)).await?;
        Ok(found.map(TryInto::try_into).transpose()?)
    }
}

/// A change of a file run's state by a person, in the account and at the moment of its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRunUpdate {
    /// The run.
    pub run: FileRunId,
    /// The state that the run must have, or nothing is changed.
    pub from: FileRunState,
    /// The new state.
    pub to: FileRunState,
    /// Whether nothing is changed once the file was deleted.
    pub needs_file: bool,
    /// Whether what the present holder of the lease writes is refused from now on. Another node can
    /// take the run when that lease expires.
    pub takes_lease: bool,
    /// New limits; `None` keeps them.
    pub limits: Option<FileRunLimits>,
    /// New progress; `None` keeps it.
    pub progress: Option<RunProgress>,
    /// New columns; `None` keeps them.
    pub matched: Option<FileRunMatch>,
}

/// How columns were matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRunMatch {
    /// Which column is which field.
    pub mappings: Vec<StoredMapping>,
    /// The version that is asked.
    pub version: VersionNumber,
}

#[boxed]
impl Database {
    /// Changes the state of a file run of the event's account, clears its reason, and saves the
    /// event. New columns clear what a check found. One transaction. Returns `false` when the run
    /// has another state meanwhile, or its file was deleted and the change needs it.
    ///
    /// # Errors
    /// When the version is missing, or the database fails.
    pub async fn update_file_run(
        &self,
        update: FileRunUpdate,
        event: Event,
    ) -> Result<bool, PersistenceError> {
        let (account, now) = (event.stamp.account, event.stamp.at);
        let is_started = update.to == FileRunState::Running;
        let ended_at = update.to.is_final().then_some(now);
        self.begin(async move |mut tx| {
            let has_file = file_runs::upload_id
                .is_not_null()
                .or::<_, Bool>(!update.needs_file);
            let progress = update.progress.as_ref().map(to_json).transpose()?;
            let one = || file_runs::table.find(Bind(update.run));
            let swapped = one()
                .filter(file_runs::account_id.eq(Bind(account)))
                .filter(file_runs::state.eq(update.from.name()))
                .filter(has_file);
            let swap = diesel::update(swapped).set((
                file_runs::state.eq(update.to.name()),
                file_runs::reason.eq(None::<String>),
                file_runs::changed_at.eq(Bind(now)),
                file_runs::ended_at.eq(ended_at),
                file_runs::fence.eq(file_runs::fence + i64::from(update.takes_lease)),
                progress.map(|progress| file_runs::progress.eq(progress)),
            ));
            if on!(tx, execute(swap))? == 0 {
                return Ok(false);
            }
            if let Some(limits) = update.limits {
                let (requests, tokens, rows) = limit_values(limits);
                let update = diesel::update(one()).set((
                    file_runs::most_model_requests.eq(requests),
                    file_runs::most_tokens.eq(tokens),
                    file_runs::most_failed_rows.eq(rows),
                ));
                on!(tx, execute(update))?;
            }
            if let Some(matched) = update.matched {
                let update = diesel::update(one()).set((
                    file_runs::mappings.eq(to_json(&matched.mappings)?),
                    file_runs::version.eq(matched.version.get()),
                    file_runs::file_check.eq(None::<String>),
                ));
                on!(tx, execute(update))?;
            }
            if is_started {
                let first = one().filter(file_runs::started_at.is_null());
                let update = diesel::update(first).set(file_runs::started_at.eq(Some(now)));
                on!(tx, execute(update))?;
            }
            commit_with(tx, event).await?;
            Ok(true)
        })
        .await
    }
}

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
    /// When the state was changed last, or a node's work was ended.
    pub changed_at: DateTime<Utc>,
    /// Until when a node holds the run, at the latest.
    pub lease_until: Option<DateTime<Utc>>,
}

/// The columns of limits.
type LimitColumns = (
    file_runs::most_model_requests,
    file_runs::most_tokens,
    file_runs::most_failed_rows,
);

const LIMITS: LimitColumns = (
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
fn limit_values(limits: FileRunLimits) -> (Option<i64>, Option<i64>, Option<i64>) {
    let number = |limit: Option<u64>| limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    (
        number(limits.model_requests),
        number(limits.tokens),
        number(limits.failed_rows),
    )
}
