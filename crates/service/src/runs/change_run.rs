//! Changes of stored file runs by people: matching columns, starting, pausing, ending.

use refract_boxed_futures::boxed;
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::FileRunId;
use refract_domain::prism::VersionNumber;
use refract_domain::result::{
    FileRunChange, FileRunLimits, FileRunState, RunProgress, StoredMapping,
};
use refract_identity::people::AccountActor;
use refract_persistence::{FileRunMatch, FileRunUpdate};

use super::Runs;
use super::stored_runs::StoredRun;
use crate::InternalError;

/// Attempts at a change while a node or another person changes the state.
const ATTEMPTS: usize = 8;

/// The outcome of a person's change of a stored file run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeRunOutcome {
    /// The change was saved; this is the run now.
    Changed(Box<StoredRun>),
    /// The account has no such run.
    NotFound,
    /// The run is in this state, which does not allow the change.
    NotPossible(FileRunState),
    /// The run's file was deleted, and the change needs it.
    FileDeleted,
    /// The prism has no version of this number.
    VersionNotFound,
    /// The prism is archived, so that nothing can be retried.
    PrismArchived,
}

/// A change that is wanted, with what comes with it.
struct WantedChange {
    change: FileRunChange,
    limits: Option<FileRunLimits>,
    mappings: Option<Vec<StoredMapping>>,
    version: Option<VersionNumber>,
}

#[boxed]
impl Runs<'_> {
    /// Matches the columns of a run's file again and, if given, asks another version. What a check
    /// found and counted is cleared.
    pub async fn match_columns(
        self,
        actor: &AccountActor,
        run: FileRunId,
        mappings: Vec<StoredMapping>,
        version: Option<VersionNumber>,
    ) -> Result<ChangeRunOutcome, InternalError> {
        let wanted = WantedChange {
            change: FileRunChange::Match,
            limits: None,
            mappings: Some(mappings),
            version,
        };
        self.change(actor, run, wanted).await
    }

    /// Changes the state of a run, and its limits if there are new ones. A node that works on the
    /// run notices when it next renews its lease.
    pub async fn change_file_run(
        self,
        actor: &AccountActor,
        run: FileRunId,
        change: FileRunChange,
        limits: Option<FileRunLimits>,
    ) -> Result<ChangeRunOutcome, InternalError> {
        let wanted = WantedChange {
            change,
            limits,
            mappings: None,
            version: None,
        };
        self.change(actor, run, wanted).await
    }

    async fn change(
        self,
        actor: &AccountActor,
        run: FileRunId,
        wanted: WantedChange,
    ) -> Result<ChangeRunOutcome, InternalError> {
        let database = &self.refract.database;
        let account = actor.account();
        let mut attempts = 0;
        loop {
            let Some(found) = self.find_file_run(account, run).await? else {
                return Ok(ChangeRunOutcome::NotFound);
            };
            let retries = wanted.change == FileRunChange::RetryFailed;
            let is_answered = found.state == FileRunState::Done && found.progress.failed == 0;
            let to = found.state.after(wanted.change);
            let to = to.filter(|_| attempts < ATTEMPTS && !(retries && is_answered));
            let Some(to) = to else {
                return Ok(ChangeRunOutcome::NotPossible(found.state));
            };
            if wanted.change.needs_file() && found.upload.is_none() {
                return Ok(ChangeRunOutcome::FileDeleted);
            }
            // a retry that ends before its first row would leave a run without its counts
            if retries {
                let prism = database.find_prism_by_id(found.prism).await?;
                if prism.is_none_or(|prism| prism.archived_at.is_some()) {
                    return Ok(ChangeRunOutcome::PrismArchived);
                }
            }
            let version = wanted.version.unwrap_or(found.version);
            if database.find_version(found.prism, version).await?.is_none() {
                return Ok(ChangeRunOutcome::VersionNotFound);
            }
            let event = event(actor, &found, to, &wanted);
            let update = update(&found, to, &wanted, version);
            if database.update_file_run(update, event).await? {
                self.refract.run_waits.notify_one();
                let changed = self.find_file_run(account, run).await?;
                let changed = changed.map(Box::new).map(ChangeRunOutcome::Changed);
                return Ok(changed.unwrap_or(ChangeRunOutcome::NotFound));
            }
            attempts += 1;
        }
    }
}

fn update(
    found: &StoredRun,
    to: FileRunState,
    wanted: &WantedChange,
    version: VersionNumber,
) -> FileRunUpdate {
    let progress = match wanted.change {
        FileRunChange::Match | FileRunChange::Check => Some(RunProgress::default()),
        FileRunChange::RetryFailed => Some(found.progress.started_again()),
        FileRunChange::Preview
        | FileRunChange::Start
        | FileRunChange::Pause
        | FileRunChange::Resume
        | FileRunChange::Cancel => None,
    };
    let mappings = wanted.mappings.clone();
    FileRunUpdate {
        run: found.id,
        from: found.state,
        to,
        needs_file: wanted.change.needs_file(),
        // a node that still ends its work on the paused run has counts from before
        takes_lease: wanted.change == FileRunChange::RetryFailed,
        limits: wanted.limits,
        progress,
        matched: mappings.map(|mappings| FileRunMatch { mappings, version }),
    }
}

/// The event of a change: the run, its version and new limits in numbers, and both states.
fn event(
    actor: &AccountActor,
    found: &StoredRun,
    to: FileRunState,
    wanted: &WantedChange,
) -> Event {
    let action = match wanted.change {
        FileRunChange::Start => EventAction::FileRunStarted,
        FileRunChange::Cancel => EventAction::FileRunEnded,
        FileRunChange::Match
        | FileRunChange::Check
        | FileRunChange::Preview
        | FileRunChange::Pause
        | FileRunChange::Resume
        | FileRunChange::RetryFailed => EventAction::FileRunChanged,
    };
    let mut about = vec![EventDetail::file_run(found.id)];
    about.push(EventDetail::version(
        wanted.version.unwrap_or(found.version),
    ));
    if wanted.change == FileRunChange::RetryFailed {
        about.push("failed rows again".into());
    }
    if let Some(limits) = wanted.limits {
        let limit = |most: Option<u64>, words| most.map(|most| EventDetail::worded(most, words));
        about.extend(limit(limits.model_requests, "model requests at most"));
        about.extend(limit(limits.tokens, "tokens at most"));
        about.extend(limit(limits.failed_rows, "failed rows at most"));
    }
    let stamp = actor.event_stamp().noted(EventDetail::list(&about));
    Event {
        from: Some(found.state.into()),
        to: Some(to.into()),
        ..stamp.event(action, EventTarget::Prism(found.prism))
    }
}
