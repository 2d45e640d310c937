//! The work on one run while this node holds its lease.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use refract_domain::result::file_run::FileRunState;
use refract_service::Refract;
use refract_service::jobs::KeptLease;
use refract_service::runs::{LeasedRun, RunEnd, RunProgress, StoredMapping, failure_threshold};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::file_run::{FileRun, RunOrder};
use crate::input::{
    ColumnMapping, InputSource, KeptCells, KeptOutline, StoredInput, WorkbookBudget,
};
use crate::output::RowSinks;
use crate::run::{FilePart, RowChunks, RunError, RunSettings, RunTally, Shard};
use crate::worker::ended_work::{Fate, Pauses, WorkError};
use crate::worker::progress::{CheckFacts, ProgressMeter, tally_of};

/// Rows that a preview answers.
const PREVIEW_ROWS: u64 = 5;
/// Threads that ask about the rows of one run.
const THREADS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

/// A run under a lease of this node.
pub(crate) struct LeasedWork {
    pub(crate) refract: Refract,
    pub(crate) leased: LeasedRun,
    /// One permit for each row in flight, shared with the other runs of the node.
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) concurrency: NonZeroUsize,
    /// The memory in which the node reads workbooks.
    pub(crate) workbooks: WorkbookBudget,
    pub(crate) held: KeptLease,
}

/// What the work under a lease shares with its heartbeat.
struct WorkState {
    tally: Arc<RunTally>,
    /// Rows of the file without those that are left out; 0 before the check.
    rows: u64,
}

impl WorkState {
    /// Whether every row is answered, failed or refused.
    fn is_finished(&self) -> bool {
        self.tally.in_order().finished() >= self.rows
    }
}

impl LeasedWork {
    /// Works on the run until it is done, a person or the node stops it, or the lease is lost.
    pub(crate) async fn carry_out(self) {
        let run = &self.leased.run;
        let facts = run.check.as_deref().and_then(CheckFacts::parse);
        let facts = facts.unwrap_or_default();
        let state = WorkState {
            tally: Arc::new(tally_of(&run.progress)),
            rows: facts.rows_to_finish(),
        };
        let mut meter = ProgressMeter::default();
        let (runs, lease) = (self.refract.runs(), self.leased.lease);
        let renew = || {
            let progress = self.progress(&state, &mut meter);
            async move { runs.renew_lease(&lease, &progress).await }
        };
        // boxed, because the future is large
        let work = Box::pin(self.work(&state, &facts));
        let Some(ended) = self.held.keep_during(work, renew).await else {
            return;
        };
        let end = ended.unwrap_or_else(|error| {
            let fate = error.fate();
            let is_interrupted = self.held.stop_cause().is_none();
            if fate == Fate::AnotherTry && is_interrupted {
                tracing::warn!(run = %run.id, %error, "the work on a file run is interrupted");
            }
            fate.into_end()
        });
        let progress = self.progress(&state, &mut meter);
        if let Err(error) = runs.end_lease(lease, end, &progress).await {
            tracing::warn!(run = %run.id, %error, "the lease of a file run lasts until it expires");
        }
    }

    /// The progress to store. A check and a preview cost something, but do not bring the run
    /// further.
    fn progress(&self, state: &WorkState, meter: &mut ProgressMeter) -> RunProgress {
        let is_check = self.leased.run.state == FileRunState::Checking;
        let rows = if is_check {
            state.tally.counts().checked
        } else {
            state.rows
        };
        let progress = meter.progress(&state.tally, rows);
        if self.leased.run.state == FileRunState::Running {
            return RunProgress {
                to_retry: self.leased.run.progress.to_retry,
                ..progress
            };
        }
        RunProgress {
            rows,
            model_requests: progress.model_requests,
            input_tokens: progress.input_tokens,
            output_tokens: progress.output_tokens,
            truncated: progress.truncated,
            ..RunProgress::default()
        }
    }

    async fn work(&self, state: &WorkState, facts: &CheckFacts) -> Result<RunEnd, WorkError> {
        let run = self.open().await?;
        match self.leased.run.state {
            FileRunState::Checking => self.check(run, state).await,
            FileRunState::Previewing => {
                let part = FilePart {
                    after: 0,
                    most_accepted: Some(PREVIEW_ROWS),
                };
                match self.ask(&run, state, facts, part).await {
                    Ok(()) => Ok(end(FileRunState::Ready)),
                    // nothing is begun that could be paused
                    Err(error @ (RunError::BudgetUsedUp(_) | RunError::CreditUsedUp { .. })) => {
                        Ok(RunEnd {
                            reason: Some(error.to_string()),
                            ..end(FileRunState::Ready)
                        })
                    }
                    Err(error) => Err(error.into()),
                }
            }
            FileRunState::Running => self.run_to_its_end(&run, state, facts).await,
            FileRunState::Matching
            | FileRunState::Ready
            | FileRunState::Paused
            | FileRunState::Done
            | FileRunState::Cancelled
            | FileRunState::Broken => Err(RunError::Asked.into()),
        }
    }

    /// Pins the prism and opens the uploaded file.
    async fn open(&self) -> Result<Arc<FileRun>, WorkError> {
        let stored = &self.leased.run;
        let upload = stored.upload.ok_or(WorkError::NoFile)?;
        let runs = self.refract.runs();
        let prism = runs.pin_for_run(stored).await.map_err(WorkError::Prism)?;
        let content = runs.upload_reader(upload);
        let outline = runs.find_outline(upload).await;
        let outline = outline.map_err(|error| WorkError::Prism(error.into()))?;
        let outline = outline.as_deref().and_then(KeptOutline::parse);
        let input = StoredInput {
            name: PathBuf::from(&stored.file_name),
            content: Arc::new(content),
            workbooks: Some(self.workbooks.clone()),
        };
        let mappings = column_mappings(&stored.mappings);
        // reading waits for the database, so it has a thread of its own
        let opening = tokio::task::spawn_blocking(move || {
            FileRun::open(
                prism,
                RunOrder {
                    input: InputSource::Stored(input).with_choice(
                        outline
                            .as_ref()
                            .map(KeptOutline::choice)
                            .unwrap_or_default(),
                    ),
                    mappings: &mappings,
                    shard: Shard::WHOLE,
                    name: String::new(),
                },
            )
        });
        let run = opening.await.map_err(|_| WorkError::Lost)??;
        Ok(Arc::new(run))
    }

    async fn check(&self, run: Arc<FileRun>, state: &WorkState) -> Result<RunEnd, WorkError> {
        let estimator = run
            .prism
            .estimator()
            .map_err(|error| WorkError::Prism(error.into()))?;
        let checked = tokio::select! {
            checked = run.check(estimator, &state.tally) => checked?,
            () = self.held.stops() => return Err(RunError::Asked.into()),
        };
        let facts = CheckFacts::of(checked, run.describe_input());
        Ok(RunEnd {
            check: Some(facts.to_text()),
            ..end(FileRunState::Ready)
        })
    }

    /// Asks about every row. When the model is away, waits and begins at the first row again:
    /// answered rows are found, and failed ones are retried.
    async fn run_to_its_end(
        &self,
        run: &FileRun,
        state: &WorkState,
        facts: &CheckFacts,
    ) -> Result<RunEnd, WorkError> {
        let mut pauses = Pauses::default();
        loop {
            let part = FilePart {
                after: state.tally.in_order().done_to,
                most_accepted: None,
            };
            let asked = match self.ask(run, state, facts, part).await {
                // a pause that came after the last row
                Err(RunError::Asked) if state.is_finished() => Ok(()),
                asked => asked,
            };
            let error = match asked {
                // the rows after the first failures may have been too few to notice
                Ok(()) => {
                    let threshold = failure_threshold(self.concurrency);
                    match state.tally.failure_streak(Some(threshold)) {
                        None => return Ok(end(FileRunState::Done)),
                        Some(streak) => streak.into(),
                    }
                }
                Err(error) => error,
            };
            if !matches!(error, RunError::ModelAway { .. }) {
                return Err(error.into());
            }
            let Some(pause) = pauses.next(state.tally.counts().ok) else {
                return Err(error.into());
            };
            tracing::warn!(run = %self.leased.run.id, pause_s = pause.as_secs(), "the model is away: a file run waits");
            tokio::select! {
                () = sleep(pause) => state.tally.begin_again(),
                () = self.held.stops() => return Err(RunError::Asked.into()),
            }
        }
    }

    /// Asks about a part of the file.
    async fn ask(
        &self,
        run: &FileRun,
        state: &WorkState,
        facts: &CheckFacts,
        part: FilePart,
    ) -> Result<(), RunError> {
        let settings = RunSettings {
            shared_permits: Some(Arc::clone(&self.permits)),
            limits: self.leased.run.limits,
            own_since: Some(self.leased.run.changed_at),
            gives_way: true,
            ..RunSettings::new(self.concurrency, THREADS)
        };
        let rows = RowChunks::read(run, part, Some(facts.rows), KeptCells::None);
        let sinks = RowSinks {
            take: |_| Ok(()),
            list: |_| Ok(()),
        };
        let stop = self.held.stops();
        let summary = run
            .ask_each(settings, rows, &state.tally, sinks, stop)
            .await;
        summary.stop.map_or(Ok(()), Err)
    }
}

fn end(state: FileRunState) -> RunEnd {
    RunEnd {
        state: Some(state),
        reason: None,
        check: None,
    }
}

fn column_mappings(stored: &[StoredMapping]) -> Vec<ColumnMapping> {
    let mapping = |stored: &StoredMapping| ColumnMapping {
        column: stored.column.clone(),
        field: stored.field.clone(),
    };
    stored.iter().map(mapping).collect()
}
