//! Deletion of results: retention by age, and erasure of one person's results.
//!
//! A result is deleted as a whole: its texts, answers, reference and marks, and its idempotency
//! key, which is free again. A purge deletes a failed result and its retries independently, each
//! when it is old enough; a surviving retry loses its `retry_of`, and a failed result whose retry
//! was deleted may be retried again. Erasure deletes all of them, since each has the texts that
//! were sent.
//!
//! Results older than the operator's retention period are purged in the background. One node on a database purges at a time: the one that holds the lease. If two purge at once,
//! because one hung for long, no harm is done: each result is deleted once. A round that a wrong
//! clock or a wrong setting may have caused is refused (ADR 17).

mod deletion;
mod plausibility;

use refract_boxed_futures::boxed;
use std::num::NonZeroU32;
use std::time::Instant;

use chrono::{DateTime, TimeDelta, Utc};
use refract_identity::people::AccountActor;
use refract_persistence::{PersistenceError, RetentionRoundRow};

use self::plausibility::{ClockWatch, check_clock, check_shares};
use crate::Refract;
use crate::store::{NodeLease, ROUND};

pub use self::deletion::{Erased, Purge, PurgedBatch};
pub use self::plausibility::ImplausibleRoundError;
pub use refract_persistence::PurgeRange;

/// The use cases of retention, from [`Refract::retention`](crate::Refract::retention).
#[derive(Clone, Copy)]
pub struct Retention<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Deletion of results: retention by age, and erasure on request.
    pub fn retention(&self) -> Retention<'_> {
        Retention { refract: self }
    }
}

/// The name of the lease and of the stored state of rounds.
const LEASE: &str = "retention";
/// The pause after a batch, as a multiple of the batch's time: at most a tenth of the time goes to
/// purging, the rest to calls.
const REST: u32 = 9;

/// Purges results older than a number of days.
pub struct RetentionRounds {
    refract: Refract,
    days: NonZeroU32,
    lease: NodeLease,
    clock: ClockWatch,
    /// Whether the next complete round is not checked.
    is_unchecked: bool,
    /// The kind of the reason that was last logged for refused rounds.
    logged: Option<&'static str>,
}

/// How a round ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetentionOutcome {
    /// Another node purges.
    HeldByAnotherNode,
    /// The number of deleted results.
    Purged(u64),
    /// Nothing was deleted: the clock or the share of results is not plausible.
    Refused(ImplausibleRoundError),
}

impl Retention<'_> {
    /// The background task for a retention period of this many days. It purges nothing until it is
    /// run.
    pub fn rounds(self, days: NonZeroU32) -> RetentionRounds {
        RetentionRounds {
            refract: self.refract.clone(),
            days,
            lease: NodeLease::new(&self.refract.database, LEASE),
            clock: ClockWatch::default(),
            is_unchecked: false,
            logged: None,
        }
    }
}

#[boxed]
impl RetentionRounds {
    /// This task with an unchecked first round: the first complete round deletes everything too
    /// old, whatever the clock and the share of results indicate. Later rounds are checked again.
    #[must_use]
    pub fn with_unchecked_first_round(self) -> Self {
        Self {
            is_unchecked: true,
            ..self
        }
    }

    /// Purges round after round until `stop` resolves. Another node can then take over at once.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let round = async {
                match self.round_now().await {
                    Ok(outcome) => self.log(&outcome),
                    Err(error) => tracing::warn!(%error, "results could not be purged yet"),
                }
                tokio::time::sleep(ROUND).await;
            };
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = round => {}
            }
        }
        if let Err(error) = self.lease.release().await {
            tracing::debug!(%error, "the lease to purge results lasts until it expires");
        }
    }

    async fn round_now(&mut self) -> Result<RetentionOutcome, PersistenceError> {
        let now = self.refract.database.time(Utc::now()).await?;
        self.round(now).await
    }

    /// Logs a round that deleted results, and logs once when rounds begin to be refused or resume.
    fn log(&mut self, outcome: &RetentionOutcome) {
        match outcome {
            RetentionOutcome::HeldByAnotherNode => {}
            RetentionOutcome::Purged(results) => {
                if self.logged.take().is_some() {
                    tracing::info!("results are purged again");
                }
                if *results > 0 {
                    tracing::info!(results, "purged results that are older than they are kept");
                }
            }
            RetentionOutcome::Refused(error) => {
                if self.logged.replace(error.kind()) != Some(error.kind()) {
                    tracing::warn!("results are not purged: {error}");
                }
            }
        }
    }

    /// Purges everything too old at a moment. The clock is checked before the lease is taken: a
    /// lease until a moment that is far ahead would keep other nodes away for long.
    ///
    /// # Errors
    /// When the database fails. The next round continues.
    pub async fn round(
        &mut self,
        now: DateTime<Utc>,
    ) -> Result<RetentionOutcome, PersistenceError> {
        let database = self.refract.database.clone();
        let last = database.find_retention_round(LEASE).await?;
        let jumped = self.clock.check(now, Instant::now());
        if !self.is_unchecked {
            if let Err(error) = jumped {
                return Ok(self.refused(error));
            }
            let newest = database.find_newest_result_moment(now).await?;
            let doubt = database.find_retention_doubt(LEASE, now).await?;
            if let Err(error) = check_clock(now, newest, last, doubt) {
                database.save_retention_doubt(LEASE, now).await?;
                return Ok(self.refused(error));
            }
        }
        let Some(mut held) = self.lease.take(now).await? else {
            return Ok(RetentionOutcome::HeldByAnotherNode);
        };
        let age = TimeDelta::days(self.days.get().into());
        let Some(before) = now.checked_sub_signed(age) else {
            return Ok(RetentionOutcome::Purged(0));
        };
        let prisms = database.list_prisms_of_all_accounts().await?;
        if !self.is_unchecked
            && let Err(error) = check_shares(&database, &prisms, before, last).await?
        {
            // another node may be set to skip the check
            self.lease.release().await?;
            return Ok(self.refused(error));
        }
        let mut purged = 0;
        for (account, prism) in prisms {
            let range = PurgeRange::of_all(prism, before);
            let mut purge = self
                .refract
                .retention()
                .purge(AccountActor::node(account), range);
            while let Some(batch) = purge.next_batch().await? {
                purged += batch.results;
                self.refract.metrics.results_purged(batch.results);
                tokio::time::sleep(batch.took * REST).await;
                if !held.is_kept().await? {
                    purge.end().await?;
                    return Ok(RetentionOutcome::Purged(purged));
                }
            }
        }
        let ended = RetentionRoundRow {
            cleared_before: before,
            ended_at: held.now(),
        };
        database.save_retention_round(LEASE, ended).await?;
        self.is_unchecked = false;
        Ok(RetentionOutcome::Purged(purged))
    }

    fn refused(&self, error: ImplausibleRoundError) -> RetentionOutcome {
        self.refract.metrics.retention_refused(error.kind(), 1);
        RetentionOutcome::Refused(error)
    }
}
