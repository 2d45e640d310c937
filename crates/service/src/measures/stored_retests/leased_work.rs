//! The work on one retest while this node holds its lease, and these leases.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{NodeId, ResultId};
use refract_domain::result::retest::RetestState;
use refract_domain::result::whole_milliseconds;
use refract_identity::people::AccountActor;
use refract_persistence::{EndedRetestLease, LeasedRetest, PersistenceError};
use tokio::sync::{SetOnce, watch};
use tokio::time::{Instant, sleep};

use super::Retests;
use crate::lenses::prism_lens::PrismLens;
use crate::measures::retest::{AskedWords, LOADED_AT_ONCE};
use crate::measures::{Retest, RetestError};
use crate::runs::{AskedTexts, AskingPace, EarlyEnd, RUN_LEASE_RENEWAL, RUN_LEASE_TERM};
use crate::{InternalError, Refract};

/// The pause before an answer that could not be saved is saved again.
const SAVE_AGAIN: Duration = Duration::from_secs(1);

/// A retest under a lease of this node.
pub(super) struct RetestWork {
    pub(super) refract: Refract,
    pub(super) leased: LeasedRetest,
    pub(super) pace: AskingPace,
    /// Becomes true when the node stops.
    pub(super) stopped: watch::Receiver<bool>,
}

/// Why no further text is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopCause {
    /// The node stops.
    NodeStops,
    /// A person stopped the retest.
    Changed,
    /// The lease is lost, or could not be renewed for its whole term.
    Lost,
}

impl RetestWork {
    /// Asks about the texts until all were asked about, a person or the node stops the work, or the
    /// lease is lost. Texts in flight are finished and saved.
    pub(super) async fn carry_out(self) {
        let stop_cause = SetOnce::new();
        let ended = tokio::select! {
            ended = self.work(&stop_cause) => ended,
            never = self.renew_regularly(&stop_cause) => match never {},
        };
        if stop_cause.get() == Some(&StopCause::Lost) {
            return;
        }
        let id = self.leased.row.id;
        let end = match ended {
            Ok(end) => end,
            Err(error) => {
                // a node takes the retest again when the lease expires
                tracing::warn!(retest = %id, %error, "the work on a retest is interrupted");
                return;
            }
        };
        let ending = self.refract.retests().end(&self.leased, end);
        if let Err(error) = ending.await {
            tracing::warn!(retest = %id, %error, "the lease of a retest lasts until it expires");
        }
    }

    /// Renews the lease, until the work is dropped.
    async fn renew_regularly(&self, stop_cause: &SetOnce<StopCause>) -> Infallible {
        let mut stopped = self.stopped.clone();
        let mut renewed_at = Instant::now();
        loop {
            tokio::select! {
                () = sleep(RUN_LEASE_RENEWAL) => {}
                // an error means that the server ended by itself
                _ = stopped.wait_for(|stops| *stops), if stop_cause.get().is_none() => {
                    let _ = stop_cause.set(StopCause::NodeStops);
                    continue;
                }
            }
            match self.refract.retests().renew(&self.leased).await {
                Ok(Some(RetestState::Asking)) => renewed_at = Instant::now(),
                Ok(Some(_)) => {
                    renewed_at = Instant::now();
                    let _ = stop_cause.set(StopCause::Changed);
                }
                Ok(None) => {
                    let _ = stop_cause.set(StopCause::Lost);
                }
                Err(error) => {
                    tracing::warn!(%error, "the lease of a retest could not be renewed");
                    let term = RUN_LEASE_TERM.to_std().unwrap_or_default();
                    if renewed_at.elapsed() > term {
                        let _ = stop_cause.set(StopCause::Lost);
                    }
                }
            }
        }
    }

    async fn work(&self, stop_cause: &SetOnce<StopCause>) -> Result<RetestEnd, RetestError> {
        let database = &self.refract.database;
        let prism = database.find_prism_by_id(self.leased.row.prism);
        let prism = prism.await.map_err(InternalError::from)?;
        let prism = prism.ok_or(InternalError::VersionMissing)?;
        let lens = Arc::new(PrismLens::load(database, prism).await?);
        let row = &self.leased.row;
        let retests = self.refract.retests();
        let asked = retests.asked_words(row.prism, row.version, row.drawn.draft.clone());
        let asked = asked.await?;
        let end = self.ask_all(&lens, &asked, stop_cause).await?;
        if stop_cause.get() == Some(&StopCause::NodeStops) {
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
        stop_cause: &SetOnce<StopCause>,
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
            let asked = self.ask(&refract, &part, stop_cause).await?;
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
    async fn ask(
        &self,
        refract: &Refract,
        part: &Retest,
        stop_cause: &SetOnce<StopCause>,
    ) -> Result<AskedTexts, RetestError> {
        let stop = async {
            stop_cause.wait().await;
        };
        let known = HashMap::new();
        let asking = refract.measures().retest(
            part,
            &known,
            self.pace,
            stop,
            async |result, outcome| {
                let outcome = match outcome {
                    Ok(answers) => Ok(serde_json::to_string(answers).map_err(io::Error::other)?),
                    Err(failure) => Err(failure.to_string()),
                };
                self.save(result, outcome, stop_cause).await;
                Ok(())
            },
            |_| (),
        );
        Ok(asking.await?.asked)
    }

    /// Saves the new answers to a text as JSON, or why there are none, as often as the database needs
    /// while the lease lasts.
    async fn save(
        &self,
        result: ResultId,
        outcome: Result<String, String>,
        stop_cause: &SetOnce<StopCause>,
    ) {
        let database = &self.refract.database;
        while stop_cause.get() != Some(&StopCause::Lost) {
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

/// How a node's work on a retest ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RetestEnd {
    /// The state that the work led to; `None` to leave the retest to another node. A state that a
    /// person set meanwhile stays.
    pub(super) state: Option<RetestState>,
    /// Why the retest failed, for people.
    pub(super) reason: Option<String>,
    /// Flips so far; `None` keeps them.
    pub(super) flips: Option<u64>,
}

impl Retests<'_> {
    /// Takes the lease of a retest that waits for a node, the one that waited longest, for as long
    /// as that of a file run. `None` when no retest waits, or other nodes were first.
    pub(super) async fn take(self, node: NodeId) -> Result<Option<LeasedRetest>, PersistenceError> {
        let (now, until) = term();
        self.refract
            .database
            .take_retest(node, &[], now, until)
            .await
    }

    /// Renews a lease. Returns the state of the retest now; `None` when the lease was lost.
    async fn renew(self, leased: &LeasedRetest) -> Result<Option<RetestState>, PersistenceError> {
        let (_, until) = term();
        let database = &self.refract.database;
        database.renew_retest_lease(leased.lease, until).await
    }

    /// Ends a lease: saves the state that the work led to, with an event of a node.
    pub(super) async fn end(
        self,
        leased: &LeasedRetest,
        end: RetestEnd,
    ) -> Result<bool, PersistenceError> {
        let (now, _) = term();
        let event = end.state.map(|state| {
            let about = EventDetail::retest(leased.row.id);
            let stamp = AccountActor::node(leased.row.account).event_stamp();
            let target = EventTarget::Prism(leased.row.prism);
            Event {
                to: Some(state.into()),
                ..stamp.noted(about).event(EventAction::RetestEnded, target)
            }
        });
        let ended = EndedRetestLease {
            state: end.state,
            reason: end.reason,
            flips: end.flips,
            at: now,
            event,
        };
        let database = &self.refract.database;
        database.end_retest_lease(leased.lease, ended).await
    }
}

/// Now, and the end of a lease that begins now.
fn term() -> (DateTime<Utc>, DateTime<Utc>) {
    let now = whole_milliseconds(Utc::now());
    (now, now + RUN_LEASE_TERM)
}
