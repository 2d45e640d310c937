//! Changes of file runs by people: each names the state that it replaces (compare and swap).

use diesel::prelude::*;
use diesel::sql_types::Bool;
use refract_domain::event::Event;
use refract_domain::ids::FileRunId;
use refract_domain::prism::VersionNumber;
use refract_domain::result::file_run::{FileRunLimits, FileRunState};

use super::row::limit_values;
use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::file_runs;
use crate::schema::sql_types::Bind;

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
    /// New progress, as the use case wrote it; `None` keeps it.
    pub progress: Option<String>,
    /// New columns; `None` keeps them.
    pub matched: Option<FileRunMatch>,
}

/// How columns were matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRunMatch {
    /// Which column is which field, as the use case wrote it.
    pub mappings: String,
    /// The version that is asked.
    pub version: VersionNumber,
}

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
                update
                    .progress
                    .map(|progress| file_runs::progress.eq(progress)),
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
                    file_runs::mappings.eq(matched.mappings),
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
            add_event(&mut tx, event).await?;
            tx.commit().await?;
            Ok(true)
        })
        .await
    }
}
