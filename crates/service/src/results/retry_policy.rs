//! Retries saving a result, with backoff, jitter and a deadline.
//!
//! A database may be away for seconds: a restart, a failover, a full disk. This module knows
//! nothing of databases except which errors are transient.
//!
//! The `backon` crate would replace four lines here: it doubles pauses and adds jitter, but bounds
//! only the sum of the pauses. What is needed is a timeout for each attempt, and one deadline for
//! pauses and attempts together, which counts from the start of draining once the server drains.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rand::RngExt as _;
use refract_persistence::PersistenceError;
use tokio::time::{Instant, timeout_at};

/// The pause after the first failure. Each later pause is twice as long, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// Upper bound of a pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Timeout of one attempt: time to get a connection from the pool and an answer on it.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(20);
/// Upper bound on the time for retries, however long the grace time is. The watermark of counts
/// stays an hour behind the present, so a result must be saved well within an hour of the creation
/// of its id.
const LONGEST: Duration = Duration::from_mins(30);
/// Most time that is reserved at the end for the response to reach the caller.
const RESPONSE_TIME: Duration = Duration::from_secs(1);
/// The default of `REFRACT_SHUTDOWN_GRACE_MS`.
const DEFAULT_GRACE: Duration = Duration::from_secs(35);

/// Retries database work until a deadline. Clones share the moment at which draining began.
#[derive(Clone, Debug)]
pub struct RetryPolicy {
    grace: Duration,
    draining_since: Arc<OnceLock<Instant>>,
}

impl Default for RetryPolicy {
    /// A policy with the default grace time of a server.
    fn default() -> Self {
        Self::within(DEFAULT_GRACE)
    }
}

impl RetryPolicy {
    /// A policy whose deadline is `grace` after the work began or, once the server drains, after
    /// draining began: by then its calls have to end.
    pub fn within(grace: Duration) -> Self {
        Self {
            grace: grace.min(LONGEST),
            draining_since: Arc::default(),
        }
    }

    /// Records that the server begins to drain.
    pub fn drain(&self) {
        self.draining_since.get_or_init(Instant::now);
    }

    /// Attempts some work until it succeeds, fails with an error that is not transient, or the
    /// deadline is near. `failed` gets every error that is followed by another attempt.
    pub(crate) async fn retry<T, F>(
        &self,
        work: impl Fn() -> F,
        failed: impl Fn(&PersistenceError),
    ) -> Result<T, PersistenceError>
    where
        F: Future<Output = Result<T, PersistenceError>>,
    {
        let deadline = self.deadline();
        // the first attempt is made even after the deadline
        let mut attempt_ends = Instant::now() + ATTEMPT_TIMEOUT;
        let mut pause = FIRST_PAUSE;
        loop {
            let attempt = timeout_at(attempt_ends, work()).await;
            let error = match attempt.unwrap_or_else(|_| Err(PersistenceError::no_answer())) {
                Err(error) if error.is_passing() => error,
                ended => return ended,
            };
            // jitter, so that calls that failed together do not retry together
            let next = Instant::now() + pause.mul_f64(rand::rng().random_range(0.5..1.0));
            if next >= deadline {
                return Err(error);
            }
            failed(&error);
            tokio::time::sleep_until(next).await;
            pause = LONGEST_PAUSE.min(pause * 2);
            attempt_ends = deadline.min(next + ATTEMPT_TIMEOUT);
        }
    }

    /// The moment after which no attempt begins.
    ///
    /// Work that began before the server drained already has a deadline before the server's own, so
    /// the deadline is computed once, when the work begins.
    fn deadline(&self) -> Instant {
        let begin = self.draining_since.get().copied();
        let grace = self.grace.saturating_sub(RESPONSE_TIME.min(self.grace / 4));
        begin.unwrap_or_else(Instant::now) + grace
    }
}

#[cfg(test)]
mod tests;
