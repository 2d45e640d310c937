//! Calls in flight: admitted, detached from their client, and awaited when the server drains.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::Instrument as _;

/// How the calls in flight ended when the server drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// All calls finished.
    Clean,
    /// This many calls were cut off when the grace time ran out.
    Cut(usize),
}

/// Whether the server admits calls, and how many are in flight. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// What the server is called in the log.
    server: &'static str,
    is_stopping: Arc<AtomicBool>,
    is_draining: Arc<AtomicBool>,
    is_cutting: Arc<AtomicBool>,
    draining: CancellationToken,
    calls: TaskTracker,
}

/// The server drains and admits no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server is draining")]
pub struct Draining;

/// The code of a call panicked: a bug. The panic's message may quote what was sent, so it is not
/// kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the code panicked")]
pub struct Panicked;

/// An admitted call. A draining server waits until the value is dropped.
#[derive(Debug)]
pub struct CallInFlight {
    _token: TaskTrackerToken,
}

impl Drained {
    /// How both of two servers ended.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Clean, ended) | (ended, Self::Clean) => ended,
            (Self::Cut(calls), Self::Cut(others)) => Self::Cut(calls + others),
        }
    }
}

impl Lifecycle {
    /// The life of a server that has a name in the log.
    pub fn named(server: &'static str) -> Self {
        Self {
            server,
            ..Self::default()
        }
    }

    /// What the server is called in the log.
    pub(crate) fn server(&self) -> &'static str {
        self.server
    }

    /// Admits a call.
    ///
    /// # Errors
    /// [`Draining`] once the server drains.
    pub fn admit(&self) -> Result<CallInFlight, Draining> {
        // counted before the flag is read: a drain that begins now either waits for this call or
        // has already set the flag
        let call = CallInFlight {
            _token: self.calls.token(),
        };
        if self.is_draining() {
            Err(Draining)
        } else {
            Ok(call)
        }
    }

    /// Says that the server is about to drain. Calls are still admitted; a load balancer that asks
    /// whether the server is ready learns to send no more.
    pub fn announce_stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
    }

    /// Whether the server drains or is about to.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }

    /// Whether the server drains and refuses new calls.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    /// Whether the server ends the calls that outlasted the grace time.
    pub fn is_cutting(&self) -> bool {
        self.is_cutting.load(Ordering::SeqCst)
    }

    /// Awaits a future for as long as the server does not drain.
    ///
    /// # Errors
    /// [`Draining`] once the server drains.
    pub async fn unless_draining<T>(&self, future: impl Future<Output = T>) -> Result<T, Draining> {
        let awaited = self.draining.run_until_cancelled(future).await;
        awaited.ok_or(Draining)
    }

    /// The number of calls in flight.
    pub fn calls_in_flight(&self) -> usize {
        self.calls.len()
    }

    /// Refuses new calls and waits for the calls in flight, up to the grace time. Logs how many there
    /// are, and how they ended.
    pub async fn drain(&self, grace: Duration) -> Drained {
        self.is_draining.store(true, Ordering::SeqCst);
        self.draining.cancel();
        self.announce_stop();
        let server = self.server;
        let in_flight = self.calls.len();
        tracing::info!(server, calls = in_flight, "draining: new calls are refused");
        self.calls.close();
        let waited = tokio::time::timeout(grace, self.calls.wait()).await;
        let drained = match (waited, self.calls.len()) {
            (Ok(()), _) | (Err(_), 0) => Drained::Clean,
            (Err(_), cut) => Drained::Cut(cut),
        };
        let cut = match drained {
            Drained::Clean => 0,
            Drained::Cut(calls) => {
                self.is_cutting.store(true, Ordering::SeqCst);
                calls
            }
        };
        let finished = in_flight.saturating_sub(cut);
        tracing::info!(server, finished, cut, "drained");
        drained
    }
}

impl CallInFlight {
    /// Runs a use case to its end in a task of its own, so that an answer that was paid for is saved
    /// even when the client disconnects. The outcome is the use case's.
    ///
    /// After a disconnect nobody reads the outcome: a use case logs its own failures.
    ///
    /// # Errors
    /// [`Panicked`] when the use case panicked.
    pub fn detached<T: 'static>(
        self,
        use_case: impl Future<Output = T> + 'static,
    ) -> impl Future<Output = Result<T, Panicked>> {
        // boxed, because the future is large and moved several times before it runs; combinators,
        // because nested async blocks would hold a waiting use case twice
        let work = unless_panicked(Box::pin(use_case)).map(move |outcome| {
            drop(self);
            outcome
        });
        let task = actix_web::rt::spawn(work.in_current_span());
        // the task does not panic, and is aborted only together with its worker
        task.map(|ended| ended.unwrap_or(Err(Panicked)))
    }
}

/// Awaits a future and turns a panic into an error. The panic message is not logged here, because
/// it may quote what a caller sent.
///
/// # Errors
/// [`Panicked`] when the future panicked.
pub fn unless_panicked<T>(
    future: impl Future<Output = T>,
) -> impl Future<Output = Result<T, Panicked>> {
    AssertUnwindSafe(future).catch_unwind().map(|outcome| {
        outcome.map_err(|_| {
            tracing::error!("a call panicked");
            Panicked
        })
    })
}

#[cfg(test)]
mod tests;
