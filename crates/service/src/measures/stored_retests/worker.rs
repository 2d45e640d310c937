//! The loop of a node: looks for retests that no other node works on, and asks about their texts
//! while it holds their leases.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use futures_util::future::LocalBoxFuture;
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{NodeId, ResultId, RetestId};
use refract_domain::result::{RetestState, whole_milliseconds};
use refract_identity::people::AccountActor;
use refract_persistence::{LeasedJob, PersistenceError, RetestEnd, RetestRow};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::asking::{AskedTexts, AskingPace, EarlyEnd};
use crate::jobs::{KeptLease, StopCause, term};
use crate::lenses::prism_lens::PrismLens;
use crate::measures::retest::{AskedWords, LOADED_AT_ONCE};
use crate::measures::{Retest, RetestError};
use crate::{InternalError, Refract};

/// The pause before a node looks for a retest. A node that has one waits twice as long, so that a
/// node without any is faster.
const LOOK: Duration = Duration::from_secs(1);
/// How often old retests are looked for.
const SWEEP: Duration = Duration::from_hours(1);
/// The pause before an answer that could not be saved is saved again.
const SAVE_AGAIN: Duration = Duration::from_secs(1);

/// Works on stored retests, two at a time, until it is stopped.
pub struct RetestWorker {
    refract: Refract,
    node: NodeId,
    pace: AskingPace,
    /// How many retests it works on.
    in_hand: Cell<usize>,
}

impl RetestWorker {
    /// A worker without work, with an upper bound on the texts of a retest in flight.
    pub fn new(refract: &Refract, concurrency: NonZeroUsize) -> Self {
        Self {
            refract: refract.for_this_thread(None),
            node: NodeId::new(Uuid::now_v7()),
            pace: AskingPace {
                concurrency,
                gives_up: true,
            },
            in_hand: Cell::new(0),
        }
    }

    /// Works until `stopped` becomes true or its sender is dropped. Then no text is begun, those in
    /// flight have the grace time to finish and to be saved, and the leases are released, so that
    /// other nodes go on at once. Boxed, so that it is compiled in this crate.
    pub fn run(
        self,
        stopped: watch::Receiver<bool>,
        grace: Duration,
    ) -> LocalBoxFuture<'static, ()> {
        Box::pin(async move {
            let mut stopping = stopped.clone();
            let working = async {
                tokio::join!(
                    self.work(LOOK, stopped.clone()),
                    self.work(LOOK * 2, stopped.clone()),
                    self.delete_old_regularly(stopped.clone()),
                );
            };
            let mut working = std::pin::pin!(working);
            tokio::select! {
                () = &mut working => return,
                // an error means that the server ended by itself
                _ = stopping.wait_for(|stops| *stops) => {}
            }
            if timeout(grace, working).await.is_ok() {
                return;
            }
            if self.in_hand.get() > 0 {
                tracing::warn!(
                    "texts of a retest were still in flight: another node asks about them again"
                );
            } else {
                tracing::warn!("retests were still looked for: the database does not answer");
            }
        })
    }

    /// Works on one retest after another.
    async fn work(&self, pause: Duration, mut stopped: watch::Receiver<bool>) {
        while !has_stopped(&mut stopped, pause).await {
            match self.take().await {
                Ok(None) => {}
                Ok(Some(leased)) => {
                    let work = RetestWork {
                        refract: self.refract.clone(),
                        leased,
                        pace: self.pace,
                        held: KeptLease::new("a retest", stopped.clone()),
                    };
                    self.in_hand.update(|retests| retests + 1);
                    work.carry_out().await;
                    self.in_hand.update(|retests| retests - 1);
                }
                Err(error) => tracing::warn!(%error, "retests could not be looked for"),
            }
        }
    }

    async fn take(&self) -> Result<Option<LeasedJob<RetestId, RetestRow>>, PersistenceError> {
        let database = &self.refract.database;
        let (now, until) = term(database).await?;
        database.take_retest(self.node, &[], now, until).await
    }

    async fn delete_old_regularly(&self, mut stopped: watch::Receiver<bool>) {
        loop {
            match self.refract.retests().delete_old().await {
                Ok(0) => {}
                Ok(retests) => tracing::info!(retests, "deleted old retests"),
                Err(error) => tracing::warn!(%error, "old retests could not be deleted yet"),
            }
            if has_stopped(&mut stopped, SWEEP).await {
                return;
            }
        }
    }
}

/// Whether the node stops within a pause.
async fn has_stopped(stopped: &mut watch::Receiver<bool>, pause: Duration) -> bool {
    tokio::select! {
        // an error means that the server ended by itself
        _ = stopped.wait_for(|stops| *stops) => true,
        () = sleep(pause) => false,
    }
}

/// A retest under a lease of this node.
struct RetestWork {
    refract: Refract,
    leased: LeasedJob<RetestId, RetestRow>,
    pace: AskingPace,
    held: KeptLease,
}

impl RetestWork {
    /// Asks about the texts until all were asked about, a person or the node stops the work, or the
    /// lease is lost. Texts in flight are finished and saved.
    async fn carry_out(self) {
        let renew = || async {
            let database = &self.refract.database;
            let (_, until) = term(database).await?;
            let renewing = database.renew_retest_lease(self.leased.lease, until);
            Ok::<_, PersistenceError>(match renewing.await? {
                Some(RetestState::Asking) => None,
                Some(_) => Some(StopCause::Changed),
                None => Some(StopCause::Lost),
            })
        };
        let Some(ended) = self.held.keep_during(self.work(), renew).await else {
            return;
        };
        let id = self.leased.row.id;
        let end = match ended {
            Ok(end) => end,
            Err(error) => {
                // a node takes the retest again when the lease expires
                tracing::warn!(retest = %id, %error, "the work on a retest is interrupted");
                return;
            }
        };
        if let Err(error) = self.end(end).await {
            tracing::warn!(retest = %id, %error, "the lease of a retest lasts until it expires");
        }
    }

    /// Ends the lease: saves the state that the work led to, with an event of a node.
    async fn end(&self, end: RetestEnd) -> Result<bool, PersistenceError> {
        let lease = self.leased.lease;
        let now = whole_milliseconds(Utc::now());
        let event = end.state.map(|state| {
            let about = EventDetail::retest(lease.job);
            let stamp = AccountActor::node(lease.account).event_stamp();
            let target = EventTarget::Prism(lease.prism);
            Event {
                to: Some(state.into()),
                ..stamp.noted(about).event(EventAction::RetestEnded, target)
            }
        });
        let database = &self.refract.database;
        database.end_retest_lease(lease, end, now, event).await
    }

    async fn work(&self) -> Result<RetestEnd, RetestError> {
        let database = &self.refract.database;
        let prism = database.find_prism_by_id(self.leased.row.prism);
        let prism = prism.await.map_err(InternalError::from)?;
        let prism = prism.ok_or(InternalError::VersionMissing)?;
        let lens = Arc::new(PrismLens::load(database, prism).await?);
        let row = &self.leased.row;
        let retests = self.refract.retests();
        let asked = retests.asked_words(row.prism, row.version, row.drawn.draft.clone());
        let asked = asked.await?;
        let end = self.ask_all(&lens, &asked).await?;
        if self.held.stop_cause() == Some(StopCause::NodeStops) {
            return Ok(end);
        }
        let reporting = retests.report_of(row.id, asked, &lens);
        let flips = u64::try_from(reporting.await?.flipped().len()).ok();
        Ok(RetestEnd { flips, ..end })
    }

    /// Asks about the texts that were not asked about, a part at a time.
    async fn ask_all(
        &self,
        lens: &Arc<PrismLens>,
        words: &AskedWords,
    ) -> Result<RetestEnd, RetestError> {
        let (row, database) = (&self.leased.row, &self.refract.database);
        let refract = self.refract.clone().with_model_named(&row.model);
        let limit = u32::try_from(LOADED_AT_ONCE).unwrap_or(u32::MAX);
        let (mut after, mut last_failure) = (ResultId::LOWEST, None);
        loop {
            let rows = database.list_retest_texts(row.id, after, limit);
            let rows = rows.await.map_err(InternalError::from)?;
            let Some(last) = rows.last() else {
                break;
            };
            after = last.result;
            if let Err(used_up) = refract.budgets().check(lens.prism.account).await {
                return Ok(failed(used_up.to_string()));
            }
            let unasked = rows
                .iter()
                .filter(|text| text.answers.is_none() && text.failure.is_none());
            let ids: Vec<ResultId> = unasked.map(|text| text.result).collect();
            let mut part = Retest::new(words.clone(), lens, false);
            let measures = refract.measures();
            measures.load_retest_texts(&mut part, &ids).await?;
            let asked = self.ask(&refract, &part).await?;
            match asked.end {
                Some(EarlyEnd::Asked) => return Ok(RetestEnd::default()),
                Some(end @ (EarlyEnd::ModelAway { .. } | EarlyEnd::CreditUsedUp { .. })) => {
                    return Ok(failed(end.to_string()));
                }
                None => {}
            }
            last_failure = asked.failed.into_keys().next_back().or(last_failure);
        }
        let counts = database.count_retest_texts(&[row.id]).await;
        let counts = counts.map_err(InternalError::from)?;
        let answered = counts.get(&row.id).map_or(0, |counts| counts.answered);
        Ok(match last_failure {
            // the texts may be too few to notice that the model is away
            Some(failure) if answered == 0 => failed(format!("no text was answered: {failure}")),
            Some(_) | None => RetestEnd {
                state: Some(RetestState::Done),
                ..RetestEnd::default()
            },
        })
    }

    /// Asks about a part of the texts, and saves each answer before another text is asked about in
    /// its place: after a crash, no more texts are asked about again than were in flight.
    async fn ask(&self, refract: &Refract, part: &Retest) -> Result<AskedTexts, RetestError> {
        let known = HashMap::new();
        let asking = refract.measures().retest(
            part,
            &known,
            self.pace,
            self.held.stops(),
            async |result, outcome| {
                let outcome = match outcome {
                    Ok(answers) => Ok(serde_json::to_string(answers).map_err(io::Error::other)?),
                    Err(failure) => Err(failure.to_string()),
                };
                self.save(result, outcome).await;
                Ok(())
            },
            |_| (),
        );
        Ok(asking.await?.asked)
    }

    /// Saves the new answers to a text as JSON, or why there are none, as often as the database needs
    /// while the lease lasts.
    async fn save(&self, result: ResultId, outcome: Result<String, String>) {
        let database = &self.refract.database;
        while self.held.stop_cause() != Some(StopCause::Lost) {
            let saving = database.save_retest_answer(self.leased.lease, result, outcome.clone());
            match saving.await {
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(%error, "an answer of a retest could not be saved yet");
                    sleep(SAVE_AGAIN).await;
                }
            }
        }
    }
}

fn failed(reason: String) -> RetestEnd {
    RetestEnd {
        state: Some(RetestState::Failed),
        reason: Some(reason),
        flips: None,
    }
}
