//! Calls in flight: admitted, detached from their client, and awaited when the server drains.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use refract_answering::Refusal;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::Instrument as _;

use crate::error::{ApiError, with_causes};

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
pub(crate) struct Lifecycle {
    is_draining: Arc<AtomicBool>,
    calls: TaskTracker,
}

/// An admitted call. A draining server waits until the value is dropped.
#[derive(Debug)]
pub(crate) struct CallInFlight {
    _token: TaskTrackerToken,
}

impl Lifecycle {
    /// Admits a call.
    ///
    /// # Errors
    /// [`ApiError::Draining`] once the server drains.
    pub(crate) fn admit(&self) -> Result<CallInFlight, ApiError> {
        // counted before the flag is read: a drain that begins now either waits for this call or
        // has already set the flag
        let call = CallInFlight {
            _token: self.calls.token(),
        };
        if self.is_draining() {
            Err(ApiError::Draining)
        } else {
            Ok(call)
        }
    }

    /// Whether the server drains and refuses new calls.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    /// The number of calls in flight.
    pub(crate) fn calls_in_flight(&self) -> usize {
        self.calls.len()
    }

    /// Refuses new calls and waits for the calls in flight, up to the grace time.
    pub(crate) async fn drain(&self, grace: Duration) -> Drained {
        self.is_draining.store(true, Ordering::SeqCst);
        self.calls.close();
        let waited = tokio::time::timeout(grace, self.calls.wait()).await;
        match (waited, self.calls.len()) {
            (Ok(()), _) | (Err(_), 0) => Drained::Clean,
            (Err(_), cut) => Drained::Cut(cut),
        }
    }
}

impl CallInFlight {
    /// Runs a use case to its end in a task of its own, so that an answer that was paid for is saved
    /// even when the client disconnects.
    ///
    /// The outcome is the use case's, or [`ApiError::Panicked`]. Internal errors are logged here,
    /// because after a disconnect no handler is left to log them.
    pub(crate) fn detached<T: 'static>(
        self,
        use_case: impl Future<Output = Result<T, Refusal>> + 'static,
    ) -> impl Future<Output = Result<T, ApiError>> {
        // boxed, because the future is large and moved several times before it runs; combinators,
        // because nested async blocks would hold a waiting use case twice
        let work = unless_panicked(Box::pin(use_case)).map(move |outcome| {
            let outcome = outcome.and_then(|done| Ok(done?));
            if let Err(ApiError::Refused(Refusal::Internal(error))) = &outcome {
                tracing::error!(error = with_causes(error), "a call failed");
            }
            drop(self);
            outcome
        });
        let task = actix_web::rt::spawn(work.in_current_span());
        // the task does not panic, and is aborted only together with its worker
        task.map(|ended| ended.unwrap_or(Err(ApiError::Panicked)))
    }
}

/// Awaits a future and turns a panic into an error. The panic message is not logged here, because
/// it may quote what a caller sent.
pub(crate) fn unless_panicked<T>(
    future: impl Future<Output = T>,
) -> impl Future<Output = Result<T, ApiError>> {
    AssertUnwindSafe(future).catch_unwind().map(|outcome| {
        outcome.map_err(|_| {
            tracing::error!("a call panicked");
            ApiError::Panicked
        })
    })
}

#[cfg(test)]
mod tests;
