//! Work on jobs under leases, for file runs and retests: a node renews the lease while it works, and
//! begins nothing further once the node stops, a person changed the job, or the lease is lost.

use refract_boxed_futures::boxed;
use std::convert::Infallible;
use std::fmt::Display;
use std::future::pending;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::result::whole_milliseconds;
use refract_persistence::{Database, PersistenceError};
use tokio::sync::{SetOnce, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

/// How long a lease lasts without renewal: after this time another node takes over from one that
/// died.
const LEASE_TERM: TimeDelta = TimeDelta::seconds(15);
/// The pause between two renewals of a lease.
pub const LEASE_RENEWAL: Duration = Duration::from_secs(3);

/// Now by the database's clock, and the end of a lease that begins now: by their own clocks, two
/// nodes would work on one job.
pub(crate) async fn term(
    database: &Database,
) -> Result<(DateTime<Utc>, DateTime<Utc>), PersistenceError> {
    let now = whole_milliseconds(database.time(Utc::now()).await?);
    Ok((now, now + LEASE_TERM))
}

/// Why nothing further of a job is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// The node stops.
    NodeStops,
    /// A person changed the job, on which nobody is to work now.
    Changed,
    /// The lease is lost, or could not be renewed for its whole term.
    Lost,
}

/// A lease that a node keeps while it works on the job.
pub struct KeptLease {
    /// What the job is called, such as "a file run".
    noun: &'static str,
    /// Becomes true when the node stops.
    stopped: watch::Receiver<bool>,
    stop_cause: SetOnce<StopCause>,
}

#[boxed]
impl KeptLease {
    /// A lease that was taken. `stopped` becomes true when the node stops.
    pub fn new(noun: &'static str, stopped: watch::Receiver<bool>) -> Self {
        Self {
            noun,
            stopped,
            stop_cause: SetOnce::new(),
        }
    }

    /// Why nothing further is begun; `None` while the work goes on.
    pub fn stop_cause(&self) -> Option<StopCause> {
        self.stop_cause.get().copied()
    }

    /// Waits until nothing further is to be begun.
    pub async fn stops(&self) {
        self.stop_cause.wait().await;
    }

    /// Works, and renews the lease meanwhile: a renewal tells why the work stops, if it does. Returns
    /// what the work led to; `None` when the lease was lost, so that nothing more is written.
    pub async fn keep_during<T, Renewal, Error>(
        &self,
        work: impl Future<Output = T>,
        renew: impl FnMut() -> Renewal,
    ) -> Option<T>
    where
        Renewal: Future<Output = Result<Option<StopCause>, Error>>,
        Error: Display,
    {
        let ended = tokio::select! {
            ended = work => ended,
            never = self.renew_regularly(renew) => match never {},
        };
        (self.stop_cause() != Some(StopCause::Lost)).then_some(ended)
    }

    /// Renews the lease, until it is lost or the work is dropped. It is lost when it expires, also while
    /// a renewal is under way.
    async fn renew_regularly<Renewal, Error>(
        &self,
        mut renew: impl FnMut() -> Renewal,
    ) -> Infallible
    where
        Renewal: Future<Output = Result<Option<StopCause>, Error>>,
        Error: Display,
    {
        let mut stopped = self.stopped.clone();
        let term = LEASE_TERM.to_std().unwrap_or_default();
        let mut expiry = Instant::now() + term;
        loop {
            let pause = sleep_until((Instant::now() + LEASE_RENEWAL).min(expiry));
            tokio::select! {
                () = pause => {}
                // an error means that the server ended by itself
                _ = stopped.wait_for(|stops| *stops), if self.stop_cause().is_none() => {
                    let _ = self.stop_cause.set(StopCause::NodeStops);
                    continue;
                }
            }
            let asked_at = Instant::now();
            let mut cause = match timeout_at(expiry, renew()).await {
                Ok(Ok(cause)) => {
                    expiry = asked_at + term;
                    cause
                }
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the lease of {} could not be renewed", self.noun);
                    None
                }
                Err(_) => None,
            };
            if Instant::now() >= expiry {
                tracing::warn!("the lease of {} expired before it was renewed", self.noun);
                cause = Some(StopCause::Lost);
            }
            if let Some(cause) = cause {
                let _ = self.stop_cause.set(cause);
            }
            if cause == Some(StopCause::Lost) {
                return pending().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use tokio::time::sleep;

    use super::*;

    /// How long work that heeds its lease goes on, and what it leads to.
    async fn work_until_stopped<Renewal>(renew: impl FnMut() -> Renewal) -> (Duration, Option<()>)
    where
        Renewal: Future<Output = Result<Option<StopCause>, &'static str>>,
    {
        let (_node, stopped) = watch::channel(false);
        let lease = KeptLease::new("a job", stopped);
        let began = Instant::now();
        let ended = lease.keep_during(lease.stops(), renew).await;
        (began.elapsed(), ended)
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_a_database_neither_renews_nor_refuses_is_lost_when_it_expires() {
        let (lasted, ended) = work_until_stopped(pending).await;
        assert_eq!((lasted, ended), (Duration::from_secs(15), None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_cannot_be_renewed_is_lost_when_it_expires() {
        let (lasted, ended) = work_until_stopped(|| ready(Err("away"))).await;
        assert_eq!((lasted, ended), (Duration::from_secs(15), None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewal_lasts_from_the_moment_at_which_it_was_asked_for() {
        let mut renewals = 0;
        let (lasted, ended) = work_until_stopped(|| {
            renewals += 1;
            let is_first = renewals == 1;
            async move {
                if !is_first {
                    return pending().await;
                }
                sleep(Duration::from_secs(10)).await;
                Ok(None)
            }
        })
        .await;
        // asked for at 3 s
        assert_eq!((lasted, ended), (Duration::from_secs(18), None));
    }

    #[tokio::test(start_paused = true)]
    async fn work_on_a_changed_job_has_an_end() {
        let (lasted, ended) = work_until_stopped(|| ready(Ok(Some(StopCause::Changed)))).await;
        assert_eq!((lasted, ended), (LEASE_RENEWAL, Some(())));
    }
}
