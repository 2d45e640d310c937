//! Calls in flight: let in, carried on without their client, waited for when the server stops.

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

/// How the calls in flight ended when the server stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// All came to their end.
    Clean,
    /// This many were cut off when the grace time ran out.
    Cut(usize),
}

/// Whether calls are let in, and which are under way. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifecycle {
    is_draining: Arc<AtomicBool>,
    calls: TaskTracker,
}

/// A call that was let in: the server does not stop before this is dropped.
#[derive(Debug)]
pub(crate) struct CallInFlight {
    _token: TaskTrackerToken,
}

impl Lifecycle {
    /// Lets a call in.
    ///
    /// # Errors
    /// [`ApiError::Draining`] once the server stops.
    pub(crate) fn admit(&self) -> Result<CallInFlight, ApiError> {
        // counted first, so that a drain that begins now either waits for it or is seen by it
        let call = CallInFlight {
            _token: self.calls.token(),
        };
        if self.is_draining() {
            Err(ApiError::Draining)
        } else {
            Ok(call)
        }
    }

    /// Whether the server is about to stop.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    /// Calls under way.
    pub(crate) fn calls_in_flight(&self) -> usize {
        self.calls.len()
    }

    /// Lets no more calls in and waits for those under way, up to the grace time.
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
    /// Runs a use case to its end, also when the client is gone and nobody waits for this any more:
    /// an answer that was paid for is saved.
    ///
    /// The outcome is the use case's, or [`ApiError::Panicked`]. Causes are logged here, since
    /// nobody may be left to hear of them.
    pub(crate) fn detached<T: 'static>(
        self,
        use_case: impl Future<Output = Result<T, Refusal>> + 'static,
    ) -> impl Future<Output = Result<T, ApiError>> {
        // boxed, since it is large and moved several times until it runs; combinators, not async
        // blocks, which would hold a waiting use case twice
        let work = unless_panicked(Box::pin(use_case)).map(move |outcome| {
            let outcome = outcome.and_then(|done| Ok(done?));
            if let Err(ApiError::Refused(Refusal::Internal(error))) = &outcome {
                tracing::error!(error = with_causes(error), "a call failed");
            }
            drop(self);
            outcome
        });
        let task = actix_web::rt::spawn(work.in_current_span());
        // the task neither panics nor is it aborted but with its whole worker
        task.map(|ended| ended.unwrap_or(Err(ApiError::Panicked)))
    }
}

/// Awaits a future and turns a panic into an error. The panic's words are left to the panic hook:
/// they may quote what a caller sent.
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
