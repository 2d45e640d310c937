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
    /// This many calls were cut off when the grace period ended.
    Cut(usize),
}

/// Whether the server admits calls, and how many are in flight. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// The server's name in the log.
    server: &'static str,
    is_stopping: Arc<AtomicBool>,
    is_draining: Arc<AtomicBool>,
    is_cutting: Arc<AtomicBool>,
    draining: CancellationToken,
    calls: TaskTracker,
}

/// The server is draining and admits no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server is draining")]
pub struct Draining;

/// The code of a call panicked: a bug. The panic's message is dropped, because it may quote a
/// caller's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the code panicked")]
pub struct Panicked;

/// An admitted call. A draining server waits until the value is dropped.
#[derive(Debug)]
pub struct CallInFlight {
    _token: TaskTrackerToken,
}

impl Drained {
    /// The combined outcome of two servers.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Clean, ended) | (ended, Self::Clean) => ended,
            (Self::Cut(calls), Self::Cut(others)) => Self::Cut(calls + others),
        }
    }
}

impl Lifecycle {
    /// The lifecycle of a server with this name in the log.
    pub fn named(server: &'static str) -> Self {
        Self {
            server,
            ..Self::default()
        }
    }

    /// The server's name in the log.
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

    /// Announces that the server will drain soon. Calls are still admitted; the readiness check
    /// fails, so that load balancers stop sending calls.
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

    /// Whether the server is cutting off the calls that outlasted the grace period.
    pub fn is_cutting(&self) -> bool {
        self.is_cutting.load(Ordering::SeqCst)
    }

    /// Awaits a future until the server drains.
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

    /// Refuses new calls and waits for the calls in flight, up to the grace period. Logs their
    /// number and how they ended.
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
    /// Runs a use case to its end in a separate task, so that an answer that was paid for is saved
    /// even when the client disconnects. Returns the use case's outcome.
    ///
    /// After a disconnect nobody reads the outcome: a use case logs its own errors.
    ///
    /// # Errors
    /// [`Panicked`] when the use case panicked.
    pub fn detached<T: 'static>(
        self,
        use_case: impl Future<Output = T> + 'static,
    ) -> impl Future<Output = Result<T, Panicked>> {
        // boxed, because the future is large and moved several times before it runs; combinators,
        // because nested async blocks would store a waiting use case twice
        let work = unless_panicked(Box::pin(use_case)).map(move |outcome| {
            drop(self);
            outcome
        });
        let task = actix_web::rt::spawn(work.in_current_span());
        // the task does not panic, and is aborted only together with its worker
        task.map(|ended| ended.unwrap_or(Err(Panicked)))
    }
}

/// Awaits a future and turns a panic into an error. The panic's message is not logged here, because
/// it may quote a caller's text.
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
