//! Gives rows to the worker threads, with backpressure from the threads and the output.
//!
//! A window bounds the memory of a run: a row reserves space in the window before the model is
//! asked, and frees it when its result is written. Rows are written in the order of the file, so
//! one slow row holds back at most as many rows as fit into the window.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use refract_domain::result::file_run::FileRunLimits;
use refract_domain::submission::IdempotencyKey;
use refract_service::CallError;
use refract_service::results::{BudgetShare, ReadableResult};
use refract_service::runs::{HeldRow, UnansweredRow, failure_threshold};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::check::ListedRow;
use crate::file_run::FileRun;
use crate::gold::ExpectedOutcome;
use crate::input::{InputRow, RowContent};
use crate::run::error::RunError;
use crate::run::row_chunks::RowChunks;
use crate::run::settings::RunSettings;
use crate::run::tally::RunTally;
use crate::run::workers::{RowWork, RunJob, RunWorkers};

/// Size of the window in kibibytes of text.
const WINDOW_KIBIBYTES: u16 = 32 * 1024;

/// A row on its way to the output.
pub(crate) struct PendingRow {
    pub(crate) place: RowPlace,
    pub(crate) state: RowState,
}

/// The state of a pending row.
pub(crate) enum RowState {
    /// The row is refused, so the model is not asked.
    Refused(ListedRow),
    /// The row has an answer from an earlier run.
    AnsweredBefore(Box<ReadableResult>),
    /// The row has an answer that this run saved before it waited for the model, or on a node that was lost.
    AnsweredInThisRun(Box<ReadableResult>),
    /// A worker thread asks the model about the row.
    Asked(oneshot::Receiver<Result<ReadableResult, CallError>>),
}

/// The part of a row that is kept until its result is handed over.
pub(crate) struct RowPlace {
    pub(crate) line: u64,
    /// The row's number in the file, from 1.
    pub(crate) number: u64,
    /// The correct answers of a gold file; empty in a plain file run.
    pub(crate) expected: Vec<ExpectedOutcome>,
    /// The row's cells in all columns of the file, if they are kept.
    pub(crate) cells: Vec<String>,
    /// The row's reserved space in the window, freed when the row is handed over.
    pub(crate) room: OwnedSemaphorePermit,
}

impl RowPlace {
    /// Queues a row that needs no worker.
    async fn fill(self, queue: &mpsc::Sender<PendingRow>, state: RowState) -> Result<(), RunError> {
        let line = self.line;
        let sent = queue.send(PendingRow { place: self, state }).await;
        sent.map_err(|_| RunError::Lost { line })
    }
}

/// Dispatches the rows of one run.
pub(crate) struct Dispatch<'a> {
    run: &'a FileRun,
    tally: &'a RunTally,
    workers: RunWorkers,
    window: Arc<Semaphore>,
    /// One permit for each row that may be in flight.
    in_flight: Arc<Semaphore>,
    /// Number of consecutive failures that ends the run; `None` for a run that never gives up.
    threshold: Option<u64>,
    limits: FileRunLimits,
    /// From when on stored answers are the run's own.
    own_since: Option<DateTime<Utc>>,
    /// What the run may spend of the account's budget.
    share: &'a BudgetShare,
    queue: mpsc::Sender<PendingRow>,
}

impl<'a> Dispatch<'a> {
    /// Dispatches all rows of a run and puts each into the queue. Cancel-safe: a row that a worker
    /// has is always in the queue.
    pub(crate) async fn all(
        run: &'a FileRun,
        settings: RunSettings,
        rows: RowChunks,
        tally: &'a Arc<RunTally>,
        share: &'a Arc<BudgetShare>,
        queue: mpsc::Sender<PendingRow>,
    ) -> Result<(), RunError> {
        let concurrency = settings.concurrency.get();
        let threshold = failure_threshold(settings.concurrency);
        let workers = RunWorkers::start(&settings, &run.prism, tally, share, threshold);
        let mut dispatch = Self {
            run,
            tally,
            workers: workers.map_err(RunError::NoThreads)?,
            window: Arc::new(Semaphore::new(WINDOW_KIBIBYTES.into())),
            in_flight: settings
                .shared_permits
                .unwrap_or_else(|| Arc::new(Semaphore::new(concurrency))),
            threshold: settings.gives_up.then_some(threshold),
            limits: settings.limits,
            own_since: settings.own_since,
            share,
            queue,
        };
        let mut rows = rows;
        while let Some(chunk) = rows.next().await? {
            let first_line = chunk.rows.first().map_or(1, |row| row.line);
            let mut held = dispatch.held_rows(first_line, &chunk.keys).await?;
            let mut keys = chunk.keys.into_iter();
            for row in chunk.rows {
                let room = dispatch.reserve_room(&row).await?;
                let mut place = RowPlace {
                    line: row.line,
                    number: row.number,
                    expected: row.gold.expected,
                    cells: row.cells,
                    room,
                };
                let content = match row.content {
                    Ok(content) => content,
                    Err(reason) => {
                        let refused = RowState::Refused(ListedRow {
                            line: row.line,
                            reason,
                            cells: std::mem::take(&mut place.cells),
                        });
                        place.fill(&dispatch.queue, refused).await?;
                        continue;
                    }
                };
                // the chunk has a key for each accepted row
                let key = keys.next().ok_or(RunError::Lost { line: row.line })?;
                let held = held.remove(&key);
                dispatch.hand_out(place, key, content, held).await?;
            }
        }
        Ok(())
    }

    /// The results that earlier runs left for rows of a chunk.
    async fn held_rows(
        &self,
        line: u64,
        keys: &[IdempotencyKey],
    ) -> Result<HashMap<IdempotencyKey, HeldRow>, RunError> {
        let found = self.run.prism.find_held_rows(keys).await;
        if let Err(CallError::PrismNotFound) = found {
            return Err(RunError::Archived { line });
        }
        found.map_err(|refusal| RunError::Row { line, refusal })
    }

    /// Waits until the row fits into the window.
    async fn reserve_room(&self, row: &InputRow) -> Result<OwnedSemaphorePermit, RunError> {
        // a row larger than the window reserves all of it
        let kibibytes = u16::try_from(row.bytes() / 1024 + 1).unwrap_or(WINDOW_KIBIBYTES);
        let permits = u32::from(kibibytes.min(WINDOW_KIBIBYTES));
        let room = Arc::clone(&self.window).acquire_many_owned(permits).await;
        room.map_err(|_| RunError::Lost { line: row.line })
    }

    /// Gives a row to a worker, unless it is already answered.
    async fn hand_out(
        &mut self,
        place: RowPlace,
        key: IdempotencyKey,
        content: RowContent,
        held: Option<HeldRow>,
    ) -> Result<(), RunError> {
        let line = place.line;
        let work = match held {
            Some(HeldRow::Answered(result)) => {
                let answered_at = result.view().created_at;
                let state = match self.own_since {
                    Some(since) if answered_at >= since => RowState::AnsweredInThisRun(result),
                    Some(_) | None => RowState::AnsweredBefore(result),
                };
                return place.fill(&self.queue, state).await;
            }
            Some(HeldRow::Failed(failed)) => RowWork::Retry(failed),
            None => RowWork::Create(UnansweredRow {
                submission: content.submission,
                reference: content.reference,
                idempotency_key: key,
            }),
        };
        self.share.row_may_begin().await;
        let fits = self.tally.row_may_begin(self.limits).await;
        fits.map_err(|limit| RunError::LimitReached { line, limit })?;
        let permit = Arc::clone(&self.in_flight).acquire_owned().await;
        let permit = permit.map_err(|_| RunError::Lost { line })?;
        if let Some(streak) = self.tally.failure_streak(self.threshold) {
            return Err(streak.into());
        }
        let slot = self.queue.reserve().await;
        let slot = slot.map_err(|_| RunError::Lost { line })?;
        let (reply, answer) = oneshot::channel();
        self.tally.row_given();
        self.workers.give(RunJob {
            line,
            work,
            reply,
            permit,
        });
        let state = RowState::Asked(answer);
        slot.send(PendingRow { place, state });
        Ok(())
    }
}
