//! Work on jobs under leases, for file runs and retests: a node renews the lease while it works, and
//! begins nothing further once the node stops, a person changed the job, or the lease is lost.

use std::convert::Infallible;
use std::fmt::Display;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::result::whole_milliseconds;
use tokio::sync::{SetOnce, watch};
use tokio::time::{Instant, sleep};

/// How long a lease lasts without renewal: after this time another node takes over from one that
/// died.
const LEASE_TERM: TimeDelta = TimeDelta::seconds(15);
/// The pause between two renewals of a lease.
pub const LEASE_RENEWAL: Duration = Duration::from_secs(3);

/// Now, and the end of a lease that begins now.
pub(crate) fn term() -> (DateTime<Utc>, DateTime<Utc>) {
    let now = whole_milliseconds(Utc::now());
    (now, now + LEASE_TERM)
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

    /// Renews the lease, until the work is dropped.
    async fn renew_regularly<Renewal, Error>(
        &self,
        mut renew: impl FnMut() -> Renewal,
    ) -> Infallible
    where
        Renewal: Future<Output = Result<Option<StopCause>, Error>>,
        Error: Display,
    {
        let mut stopped = self.stopped.clone();
        let mut renewed_at = Instant::now();
        loop {
            tokio::select! {
                () = sleep(LEASE_RENEWAL) => {}
                // an error means that the server ended by itself
                _ = stopped.wait_for(|stops| *stops), if self.stop_cause().is_none() => {
                    let _ = self.stop_cause.set(StopCause::NodeStops);
                    continue;
                }
            }
            let cause = match renew().await {
                Ok(cause) => {
                    renewed_at = Instant::now();
                    cause
                }
                Err(error) => {
                    tracing::warn!(%error, "the lease of {} could not be renewed", self.noun);
                    let term = LEASE_TERM.to_std().unwrap_or_default();
                    (renewed_at.elapsed() > term).then_some(StopCause::Lost)
                }
            };
            if let Some(cause) = cause {
                let _ = self.stop_cause.set(cause);
            }
        }
    }
}
