//! Gives rows to the threads that ask, as fast as they and the writer keep up.
//!
//! What bounds memory is a window: a row takes its place in it before it is asked about and leaves
//! it when its result is written. Rows are written in the order of the file, so one slow row may
//! hold back as many as the window has.

use std::collections::HashMap;
use std::sync::Arc;

use refract_domain::reference::IdempotencyKey;
use refract_domain::result::SavedResult;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::reading::Reading;
use super::row::{Row, RowContent};
use super::stop::Stop;
use super::workers::{Job, Workers};
use super::{FileRun, RunSettings, Tally};
use crate::Refusal;
use crate::model_away::failures_that_tell;

/// Kibibytes of text in the window.
const WINDOW_KIBIBYTES: u16 = 32 * 1024;

/// A row on its way to the output.
pub(crate) struct Pending {
    pub(crate) line: u64,
    pub(crate) state: State,
    /// Its place in the window.
    _place: OwnedSemaphorePermit,
}

/// What becomes of it.
pub(crate) enum State {
    /// It is not asked about.
    Refused,
    /// It had its answer.
    Answered(Box<SavedResult>),
    /// Its answer comes.
    Asked(oneshot::Receiver<Result<SavedResult, Refusal>>),
}

/// What giving away needs.
pub(crate) struct Dispatch<'a> {
    run: &'a FileRun,
    tally: &'a Tally,
    workers: Workers,
    window: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    /// `None` never gives up.
    most_failures: Option<u64>,
    queue: mpsc::Sender<Pending>,
}

impl<'a> Dispatch<'a> {
    /// Gives away all rows of a run. It may be dropped wherever it waits: a row that was given
    /// away is in the queue.
    pub(crate) async fn all(
        run: &'a FileRun,
        settings: RunSettings<'_>,
        rows_in_file: u64,
        tally: &'a Arc<Tally>,
        queue: mpsc::Sender<Pending>,
    ) -> Result<(), Stop> {
        let concurrency = settings.concurrency.get();
        let threads = settings.threads.get().min(concurrency);
        let most_failures = failures_that_tell(settings.concurrency);
        let workers =
            Workers::start(threads, run, settings.gateway, tally).map_err(Stop::NoThreads)?;
        let mut dispatch = Self {
            run,
            tally,
            workers,
            window: Arc::new(Semaphore::new(WINDOW_KIBIBYTES.into())),
            turns: Arc::new(Semaphore::new(concurrency)),
            most_failures: settings.gives_up.then_some(most_failures),
            queue,
        };
        let mut reading = Reading::start(run, rows_in_file);
        while let Some(chunk) = reading.next().await? {
            let first_line = chunk.rows.first().map_or(1, |row| row.line);
            let mut held = dispatch.held(first_line, &chunk.keys).await?;
            let mut keys = chunk.keys.into_iter();
            for row in chunk.rows {
                let (line, place) = (row.line, dispatch.place(&row).await?);
                // there is a key for each row that is not refused
                let asked = row
                    .content
                    .ok()
                    .and_then(|content| Some((keys.next()?, content)));
                match asked {
                    None => dispatch.pass(line, State::Refused, place).await?,
                    Some((key, content)) => {
                        let held = held.remove(key.as_str());
                        dispatch.ask(line, key, content, held, place).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What holds the keys of some rows.
    async fn held(
        &self,
        line: u64,
        keys: &[IdempotencyKey],
    ) -> Result<HashMap<String, SavedResult>, Stop> {
        let FileRun { account, prism, .. } = self.run;
        let found = self.run.database.find_held_rows(*account, prism.id, keys);
        let found = found.await.map_err(|error| Stop::Row {
            line,
            refusal: error.into(),
        })?;
        if !found.prism_answers {
            return Err(Stop::Archived { line });
        }
        let by_key = found.held.into_iter().filter_map(|held| {
            let key = held.idempotency_key.as_ref()?.as_str().to_owned();
            Some((key, held))
        });
        Ok(by_key.collect())
    }

    /// A place in the window, as soon as there is one.
    async fn place(&self, row: &Row) -> Result<OwnedSemaphorePermit, Stop> {
        // none takes more than the whole window
        let kibibytes = u16::try_from(row.bytes() / 1024 + 1).unwrap_or(WINDOW_KIBIBYTES);
        let places = u32::from(kibibytes.min(WINDOW_KIBIBYTES));
        let place = Arc::clone(&self.window).acquire_many_owned(places).await;
        place.map_err(|_| Stop::Lost { line: row.line })
    }

    /// Puts a row that needs no asking into the queue.
    async fn pass(&self, line: u64, state: State, place: OwnedSemaphorePermit) -> Result<(), Stop> {
        let pending = Pending {
            line,
            state,
            _place: place,
        };
        self.queue
            .send(pending)
            .await
            .map_err(|_| Stop::Lost { line })
    }

    /// Gives a row away unless it has its answer.
    async fn ask(
        &mut self,
        line: u64,
        key: IdempotencyKey,
        content: RowContent,
        held: Option<SavedResult>,
        place: OwnedSemaphorePermit,
    ) -> Result<(), Stop> {
        let failed = match held {
            Some(held) if held.status.answers().is_some() => {
                return self
                    .pass(line, State::Answered(Box::new(held)), place)
                    .await;
            }
            held => held,
        };
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.map_err(|_| Stop::Lost { line })?;
        let streak = self
            .most_failures
            .and_then(|most| self.tally.streak_of(most));
        if let Some(streak) = streak {
            return Err(Stop::ModelAway {
                failures: streak.failures,
                line: streak.line,
                error: streak.error,
            });
        }
        let slot = self.queue.reserve().await;
        let slot = slot.map_err(|_| Stop::Lost { line })?;
        let (reply, answer) = oneshot::channel();
        self.workers.give(Job {
            line,
            key,
            content,
            failed,
            reply,
            turn,
        });
        slot.send(Pending {
            line,
            state: State::Asked(answer),
            _place: place,
        });
        Ok(())
    }
}
