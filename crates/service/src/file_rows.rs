//! What a file run needs of the use cases: one prism version that answers row after row.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use refract_domain::budget;
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::reference::{IdempotencyKey, Ref};
use refract_domain::result::SavedResult;
use refract_domain::slug::PrismSelector;
use refract_domain::submission::Submission;
use refract_domain::view::RowColumns;
use refract_model_gateway::ModelGateway;
use refract_persistence::Database;

use crate::api_keys::KeyUses;
use crate::ask_and_save::AnsweredCall;
use crate::caller::Caller;
use crate::checked_call::CheckedCall;
use crate::metrics::ServiceMetrics;
use crate::prism_lens::PrismLens;
use crate::readable_result::ReadableResult;
use crate::refract::Refract;
use crate::refusal::Refusal;
use crate::versions::{NumberedVersion, check_active, find_version_to_ask};

/// A prism version and the prism's lens, pinned when a file run begins. Clones are cheap.
#[derive(Clone)]
pub struct PinnedPrism {
    database: Database,
    account: AccountId,
    lens: Arc<PrismLens>,
    asked: NumberedVersion,
}

/// What the events of a file run say about its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunFacts {
    /// What kind of run it is, such as `run` or `check`.
    pub kind: &'static str,
    /// Rows that the run is about.
    pub rows: u64,
    /// Rows of these that a limit refuses.
    pub refused: u64,
}

/// What became of the rows of a file run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRows {
    /// Rows that an earlier run answered.
    pub answered_before: u64,
    /// Rows that this run answered.
    pub answered: u64,
    /// Rows that failed.
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

/// What an earlier run left of a row.
pub enum HeldRow {
    /// The row's answers.
    Answered(Box<ReadableResult>),
    /// A failed result that is to be retried.
    Failed(Box<SavedResult>),
}

impl PinnedPrism {
    /// Finds the prism and pins the version of this number, or the latest.
    ///
    /// # Errors
    /// When the account has no such prism, the prism is archived or lacks the version, or the
    /// database fails.
    pub async fn find(
        database: &Database,
        account: AccountId,
        prism: &PrismSelector,
        version: Option<VersionNumber>,
    ) -> Result<Self, Refusal> {
        let prism = check_active(database.find_prism(account, prism).await?)?;
        let asked = find_version_to_ask(database, &prism, version).await?;
        let lens = PrismLens::load(database, prism).await?;
        Ok(Self {
            database: database.clone(),
            account,
            lens: Arc::new(lens),
            asked,
        })
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

    /// The columns of the rows that are written.
    pub fn columns(&self) -> RowColumns<'_> {
        self.lens.columns()
    }

    /// The rows of these idempotency keys that have a result. Two queries however many keys, of
    /// which there should be some hundreds at most.
    ///
    /// # Errors
    /// [`Refusal::PrismNotFound`] when the prism was archived, or when the database fails.
    pub async fn find_held_rows(
        &self,
        keys: &[IdempotencyKey],
    ) -> Result<HashMap<IdempotencyKey, HeldRow>, Refusal> {
        let found = self
            .database
            .find_held_rows(self.account, self.id(), keys)
            .await?;
        if !found.prism_answers {
            return Err(Refusal::PrismNotFound);
        }
        let mut rows = HashMap::with_capacity(found.held.len());
        for held in found.held {
            let Some(key) = held.idempotency_key.clone() else {
                continue;
            };
            let row = if held.status.answers().is_some() {
                let readable = ReadableResult::through_lens(&self.database, held, &self.lens);
                HeldRow::Answered(Box::new(readable.await?))
            } else {
                HeldRow::Failed(Box::new(held))
            };
            rows.insert(key, row);
        }
        Ok(rows)
    }

    /// Which of these idempotency keys have a result with answers. One query however many keys, of
    /// which there should be some hundreds at most.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_answered_keys(
        &self,
        keys: &[IdempotencyKey],
    ) -> Result<HashSet<IdempotencyKey>, Refusal> {
        Ok(self.database.find_answered_keys(self.account, keys).await?)
    }

    /// The names of the models that answered these results, as their servers report them; `None` is
    /// among them where a server reported none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn model_names(
        &self,
        results: &[ResultId],
    ) -> Result<BTreeSet<Option<String>>, Refusal> {
        let names = self.database.list_model_names(self.account, results);
        Ok(names.await?)
    }

    /// Saves the event that a file run of so many rows begins to ask, by an operator.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn save_run_started(&self, run: RunFacts) -> Result<(), Refusal> {
        let rows = [
            run.kind.into(),
            EventDetail::counted(run.rows, "row"),
            EventDetail::worded(run.refused, "refused"),
        ];
        let rows = EventDetail::list(&rows);
        self.save_run_event(EventAction::FileRunStarted, rows).await
    }

    /// Saves the event that a file run ended, by an operator.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn save_run_ended(&self, run: RunFacts, rows: RunRows) -> Result<(), Refusal> {
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

    async fn save_run_event(&self, action: EventAction, rows: EventDetail) -> Result<(), Refusal> {
        let stamp = Caller::operator(self.account).event_stamp().noted(rows);
        let event = Event {
            to: Some(EventDetail::version(self.asked.number)),
            ..stamp.event(action, EventTarget::Prism(self.id()))
        };
        Ok(self.database.save_event(event).await?)
    }

    /// The use cases of one of `threads` threads, made on that thread: it owns its connections to
    /// the model and the database.
    pub fn for_this_thread(&self, gateway: &ModelGateway, threads: NonZeroUsize) -> RowAnswering {
        let database = self.database.for_this_thread(threads);
        let (uses, metrics) = (KeyUses::default(), ServiceMetrics::default());
        RowAnswering {
            answering: Refract::new(database, gateway.model(), uses, metrics),
            prism: self.clone(),
        }
    }
}

/// Asks about rows, on one thread.
pub struct RowAnswering {
    answering: Refract,
    prism: PinnedPrism,
}

impl RowAnswering {
    /// Asks about a row without a result, and saves one.
    ///
    /// # Errors
    /// When the row is too large, the idempotency key is another prism's, or the database fails.
    pub async fn create(&self, row: UnansweredRow) -> Result<AnsweredCall, Refusal> {
        let asked = self.prism.asked.clone();
        budget::check(&asked.version, &row.submission)?;
        let checked = CheckedCall {
            caller: Caller::operator(self.prism.account),
            prism: self.prism.id(),
            asked,
            submission: row.submission,
            reference: row.reference,
            idempotency_key: Some(row.idempotency_key),
            retry_of: None,
        };
        self.answering.answer(checked, &self.prism.lens).await
    }

    /// Retries the failed result of a row, and saves a new one.
    ///
    /// # Errors
    /// When the stored values are too large, or the database fails.
    pub async fn retry(&self, failed: SavedResult) -> Result<AnsweredCall, Refusal> {
        let caller = Caller::operator(self.prism.account);
        let checked = self.answering.check_retry(caller, failed).await?;
        self.answering.answer(checked, &self.prism.lens).await
    }
}
