//! One prism version that answers row after row of a file run.

use refract_boxed_futures::boxed;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::lens::Column;
use refract_domain::prism::{PrismSelector, PrismVersion, VersionNumber};
use refract_domain::result::{RowColumns, SavedResult};
use refract_domain::submission::{IdempotencyKey, Ref, Submission, budget};
use refract_identity::people::AccountActor;
use refract_model_gateway::Estimator;

use crate::lenses::prism_lens::PrismLens;
use crate::model::CallPriority;
use crate::prisms::{NumberedVersion, Prism, check_active, find_version_to_ask};
use crate::results::ask_and_save::{AnsweredCall, CheckedCall};
use crate::results::budgets::Budgets;
use crate::results::column_value::answer_column;
use crate::results::read::ReadableResult;
use crate::runs::Runs;
use crate::{CallError, InternalError, Refract};

/// A prism version and the prism's lens, pinned when a file run begins. Clones are cheap.
#[derive(Clone)]
pub struct PinnedPrism {
    refract: Refract,
    /// Who makes the results.
    actor: AccountActor,
    lens: Arc<PrismLens>,
    asked: NumberedVersion,
}

/// Facts about a file run for its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunFacts {
    /// The kind of run, such as `run` or `check`.
    pub kind: &'static str,
    /// Number of rows in the run.
    pub rows: u64,
    /// Number of these rows that a limit refuses.
    pub refused: u64,
}

/// Outcome of the rows of a file run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRows {
    /// Number of rows that an earlier run answered.
    pub answered_before: u64,
    /// Number of rows that this run answered.
    pub answered: u64,
    /// Number of rows that failed.
    pub failed: u64,
    /// Whether the run stopped before the end of its file.
    pub is_stopped: bool,
}

/// A row that has no result yet.
pub struct UnansweredRow {
    /// The row's fields and context.
    pub submission: Submission,
    /// The row's `ref`.
    pub reference: Option<Ref>,
    /// The key under which a later run finds the row's result.
    pub idempotency_key: IdempotencyKey,
}

/// What an earlier run saved for a row.
pub enum HeldRow {
    /// The row's answers.
    Answered(Box<ReadableResult>),
    /// A failed result, which is to be retried.
    Failed(Box<SavedResult>),
}

#[boxed]
impl Runs<'_> {
    /// Finds the prism and pins the version of this number, or the latest. Results are made by the
    /// operator.
    ///
    /// # Errors
    /// When the account has no such prism, the prism is archived or lacks the version, or the
    /// database fails.
    pub async fn pin(
        self,
        account: AccountId,
        prism: &PrismSelector,
        version: Option<VersionNumber>,
    ) -> Result<PinnedPrism, CallError> {
        let prism = self.refract.database.find_prism(account, prism).await?;
        self.pin_found(account, check_active(prism)?, version).await
    }

    /// Pins a version of a prism, also of an archived one: its results can be read.
    pub(super) async fn pin_found(
        self,
        account: AccountId,
        prism: Prism,
        version: Option<VersionNumber>,
    ) -> Result<PinnedPrism, CallError> {
        let database = &self.refract.database;
        let asked = find_version_to_ask(database, &prism, version).await?;
        let lens = PrismLens::load(database, prism).await?;
        Ok(PinnedPrism {
            refract: self.refract.clone().with_priority(CallPriority::Batch),
            actor: AccountActor::operator(account),
            lens: Arc::new(lens),
            asked,
        })
    }
}

#[boxed]
impl PinnedPrism {
    /// This prism, with results made by another actor.
    pub(super) fn with_actor(self, actor: AccountActor) -> Self {
        Self { actor, ..self }
    }

    /// The budgets, and the account whose budget the file run uses.
    pub fn budgets(&self) -> (Budgets<'_>, AccountId) {
        (self.refract.budgets(), self.actor.account())
    }

    /// The prism's id.
    pub fn id(&self) -> PrismId {
        self.lens.prism.id
    }

    /// The prism's slug.
    pub fn slug(&self) -> &str {
        self.lens.prism.slug.as_str()
    }

    /// The number of the version that answers.
    pub fn version_number(&self) -> VersionNumber {
        self.asked.number
    }

    /// The version that answers.
    pub fn version(&self) -> &Arc<PrismVersion> {
        &self.asked.version
    }

    /// For each question of the version that answers, the column with its answer: by the cutoffs of
    /// the lens for a Yes / No.
    pub fn answer_columns(&self) -> Vec<Column> {
        let questions = self.asked.version.questions().iter();
        let columns = questions.filter_map(|question| answer_column(&self.lens, question));
        columns.collect()
    }

    /// The columns of the rows that are written.
    pub fn columns(&self) -> RowColumns<'_> {
        self.lens.columns()
    }

    /// The rows of these idempotency keys that have a result. Two queries for any number of keys;
    /// pass a few hundred at most.
    ///
    /// # Errors
    /// [`CallError::PrismNotFound`] when the prism was archived, or when the database fails.
    pub async fn find_held_rows(
        &self,
        keys: &[IdempotencyKey],
    ) -> Result<HashMap<IdempotencyKey, HeldRow>, CallError> {
        let database = &self.refract.database;
        let found = database
            .find_held_rows(self.actor.account(), self.id(), keys)
            .await?;
        if !found.prism_answers {
            return Err(CallError::PrismNotFound);
        }
        let mut rows = HashMap::with_capacity(found.held.len());
        for held in found.held {
            let Some(key) = held.idempotency_key.clone() else {
                continue;
            };
            let row = if held.status.answers().is_some() {
                let readable =
                    ReadableResult::through_lens(&self.refract.database, held, &self.lens);
                HeldRow::Answered(Box::new(readable.await?))
            } else {
                HeldRow::Failed(Box::new(held))
            };
            rows.insert(key, row);
        }
        Ok(rows)
    }

    /// The results that the rows of these idempotency keys have now, `ok` or `failed`, through the
    /// pinned lens. Two queries for any number of keys; pass a few hundred at most.
    pub async fn find_results_of_rows(
        &self,
        keys: &[IdempotencyKey],
    ) -> Result<HashMap<IdempotencyKey, ReadableResult>, CallError> {
        let database = &self.refract.database;
        let found = database.find_held_rows(self.actor.account(), self.id(), keys);
        let mut rows = HashMap::with_capacity(keys.len());
        for held in found.await?.held {
            if let Some(key) = held.idempotency_key.clone() {
                let readable = ReadableResult::through_lens(database, held, &self.lens);
                rows.insert(key, readable.await?);
            }
        }
        Ok(rows)
    }

    /// Which of these idempotency keys have a result with answers. One query for any number of
    /// keys; pass a few hundred at most.
    pub async fn find_answered_keys(
        &self,
        keys: &[IdempotencyKey],
    ) -> Result<HashSet<IdempotencyKey>, CallError> {
        let database = &self.refract.database;
        Ok(database
            .find_answered_keys(self.actor.account(), keys)
            .await?)
    }

    /// The names of the models that answered these results, as reported by their servers, with
    /// `None` if a server reported none.
    pub async fn model_names(
        &self,
        results: &[ResultId],
    ) -> Result<BTreeSet<Option<String>>, CallError> {
        let database = &self.refract.database;
        let names = database.list_model_names(self.actor.account(), results);
        Ok(names.await?)
    }

    /// Saves the event that a file run begins to ask the model.
    pub async fn save_run_started(&self, run: RunFacts) -> Result<(), CallError> {
        let rows = [
            run.kind.into(),
            EventDetail::counted(run.rows, "row"),
            EventDetail::worded(run.refused, "refused"),
        ];
        let rows = EventDetail::list(&rows);
        self.save_run_event(EventAction::FileRunStarted, rows).await
    }

    /// Saves the event that a file run ended.
    pub async fn save_run_ended(&self, run: RunFacts, rows: RunRows) -> Result<(), CallError> {
        let RunRows {
            answered_before,
            answered,
            failed,
            is_stopped,
        } = rows;
        let how = if is_stopped { "stopped" } else { "to its end" };
        let rows = [
            run.kind.into(),
            how.into(),
            EventDetail::counted(run.rows, "row"),
            EventDetail::worded(run.refused, "refused"),
            EventDetail::worded(answered_before, "answered before"),
            EventDetail::worded(answered, "answered"),
            EventDetail::worded(failed, "failed"),
        ];
        let rows = EventDetail::list(&rows);
        self.save_run_event(EventAction::FileRunEnded, rows).await
    }

    async fn save_run_event(
        &self,
        action: EventAction,
        rows: EventDetail,
    ) -> Result<(), CallError> {
        let stamp = self.actor.event_stamp().noted(rows);
        let event = Event {
            to: Some(EventDetail::version(self.asked.number)),
            ..stamp.event(action, EventTarget::Prism(self.id()))
        };
        Ok(self.refract.database.save_event(event).await?)
    }

    /// This prism for one of `threads` threads, created on that thread: it owns its connections to
    /// the model and the database.
    #[must_use]
    pub fn for_this_thread(&self, threads: NonZeroUsize) -> Self {
        Self {
            refract: self.refract.for_this_thread(Some(threads)),
            ..self.clone()
        }
    }

    /// Estimates what asking the pinned version will cost.
    ///
    /// # Errors
    /// When there is no model to ask.
    pub fn estimator(&self) -> Result<Estimator, InternalError> {
        Ok(self.refract.model()?.estimator(&self.asked.version))
    }

    /// Requests a minute that the model's servers are seen to take; `None` if they refuse none.
    pub fn learned_per_minute(&self) -> Option<u64> {
        self.refract.model().ok()?.learned_per_minute()
    }

    /// Whether the built-in scorer answers, which is for trying only.
    pub fn is_for_trying_only(&self) -> bool {
        self.refract.is_for_trying_only()
    }
}

#[boxed(local)]
impl PinnedPrism {
    /// Asks about a row without a result, and saves the result.
    ///
    /// # Errors
    /// When the row is too large, another prism's result holds the idempotency key, or the database
    /// fails.
    pub async fn create(&self, row: UnansweredRow) -> Result<AnsweredCall, CallError> {
        let results = self.refract.results();
        let asked = self.asked.clone();
        budget::check(&asked.version, &row.submission)?;
        let checked = CheckedCall {
            actor: self.actor.clone(),
            prism: self.id(),
            asked,
            submission: row.submission,
            reference: row.reference,
            idempotency_key: Some(row.idempotency_key),
            retry_of: None,
        };
        results.answer(checked, &self.lens).await
    }

    /// Retries the failed result of a row, and saves the new result.
    ///
    /// # Errors
    /// When the stored values are too large, or the database fails.
    pub async fn retry(&self, failed: SavedResult) -> Result<AnsweredCall, CallError> {
        let results = self.refract.results();
        let checked = results.check_retry(self.actor.clone(), failed).await?;
        results.answer(checked, &self.lens).await
    }
}
