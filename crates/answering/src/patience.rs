//! How long a call insists on saving what a model was paid for.
//!
//! A database may be away for seconds: a restart, a failover, a full disk. This knows nothing of
//! databases but which of their failures pass.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rand::RngExt as _;
use refract_persistence::PersistenceError;
use tokio::time::{Instant, timeout_at};

/// The pause after the first failure; each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How long one attempt may take: to get a connection, and to get an answer.
const ATTEMPT: Duration = Duration::from_secs(20);
/// The most that is kept free at the end, for the answer to reach its caller.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long to insist unless told otherwise: the default of `REFRACT_SHUTDOWN_GRACE_MS`.
const DEFAULT_GRACE: Duration = Duration::from_secs(35);

/// How long work that a database failed at is tried again. Clones are the same.
#[derive(Clone, Debug)]
pub struct Patience {
    grace: Duration,
    draining_since: Arc<OnceLock<Instant>>,
}

impl Default for Patience {
    /// As long as a server's calls may take to finish by default.
    fn default() -> Self {
        Self::within(DEFAULT_GRACE)
    }
}

impl Patience {
    /// Work is tried again for this long after it began, and when the server stops for this long
    /// after it was told to: the time in which its calls have to end.
    pub fn within(grace: Duration) -> Self {
        Self {
            grace,
            draining_since: Arc::default(),
        }
    }

    /// Notes that the server was told to stop.
    pub fn drain(&self) {
        self.draining_since.get_or_init(Instant::now);
    }

    /// Does some work until it succeeds, fails for good or there is no more time, with growing
    /// pauses; `failed` hears of every failure that is followed by another attempt.
    pub(crate) async fn insist<T, F>(
        &self,
        work: impl Fn() -> F,
        failed: impl Fn(&PersistenceError),
    ) -> Result<T, PersistenceError>
    where
        F: Future<Output = Result<T, PersistenceError>>,
    {
        let deadline = self.deadline();
        // the first attempt is made however little time there is
        let mut attempt_ends = Instant::now() + ATTEMPT;
        let mut pause = FIRST_PAUSE;
        loop {
            let attempt = timeout_at(attempt_ends, work()).await;
            let error = match attempt.unwrap_or_else(|_| Err(PersistenceError::no_answer())) {
                Err(error) if error.is_passing() => error,
                ended => return ended,
            };
            // calls that failed together do not come back together
            let next = Instant::now() + pause.mul_f64(rand::rng().random_range(0.5..1.0));
            if next >= deadline {
                return Err(error);
            }
            failed(&error);
            tokio::time::sleep_until(next).await;
            pause = LONGEST_PAUSE.min(pause * 2);
            attempt_ends = deadline.min(next + ATTEMPT);
        }
    }

    /// Work that began before the server was told to stop has less time than its calls have, so
    /// that only what begins afterwards needs to know of it.
    fn deadline(&self) -> Instant {
        let begin = self.draining_since.get().copied();
        let grace = self.grace.saturating_sub(LAST_WORDS.min(self.grace / 4));
        begin.unwrap_or_else(Instant::now) + grace
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    fn passing() -> PersistenceError {
        PersistenceError::Failed("for now".to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_until_the_time_is_up_and_the_last_failure_is_returned() {
        let patience = Patience::within(Duration::from_secs(20));
        let (begin, attempts) = (Instant::now(), RefCell::new(Vec::new()));
        let work = async || {
            attempts.borrow_mut().push(Instant::now());
            Err::<(), _>(passing())
        };
        let outcome = patience.insist(work, |_| {}).await;
        assert!(outcome.unwrap_err().is_passing());
        let attempts = attempts.into_inner();
        let mut longest = FIRST_PAUSE;
        for pair in attempts.windows(2) {
            let pause = pair[1].duration_since(pair[0]);
            // timers count whole milliseconds
            let slack = Duration::from_millis(1);
            let fits = pause <= longest + slack && pause + slack >= longest / 2;
            assert!(fits, "{pause:?} of {longest:?}");
            longest = LONGEST_PAUSE.min(longest * 2);
        }
        assert_eq!(longest, LONGEST_PAUSE);
        let took = begin.elapsed().as_secs();
        assert!((15..20).contains(&took), "{took}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_success_counts_and_every_failure_before_it_is_heard_of() {
        let (attempts, failures) = (Cell::new(0), Cell::new(0));
        let work = async || {
            attempts.set(attempts.get() + 1);
            if attempts.get() < 4 {
                Err(passing())
            } else {
                Ok("saved")
            }
        };
        let failed = |_: &PersistenceError| failures.set(failures.get() + 1);
        let outcome = Patience::default().insist(work, failed).await;
        assert_eq!(outcome.unwrap(), "saved");
        assert_eq!((attempts.get(), failures.get()), (4, 3));
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_pass_is_not_tried_again() {
        let attempts = Cell::new(0);
        let work = async || {
            attempts.set(attempts.get() + 1);
            Err::<(), _>(PersistenceError::Refused("a rule".to_owned()))
        };
        Patience::default().insist(work, |_| {}).await.unwrap_err();
        assert_eq!(attempts.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_that_hang_end_with_the_time() {
        let attempts = Cell::new(0);
        let work = async || {
            attempts.set(attempts.get() + 1);
            std::future::pending::<Result<(), _>>().await
        };
        let begin = Instant::now();
        let error = Patience::default().insist(work, |_| {}).await.unwrap_err();
        assert!(error.to_string().contains("does not answer"), "{error}");
        assert_eq!((attempts.get(), begin.elapsed().as_secs()), (2, 34));
    }

    #[tokio::test(start_paused = true)]
    async fn a_draining_server_insists_only_within_its_grace_time() {
        let patience = Patience::default();
        let begin = Instant::now();
        patience.clone().drain();
        tokio::time::sleep(Duration::from_secs(20)).await;
        // a second signal gives no more time
        patience.drain();
        let work = async || Err::<(), _>(passing());
        patience.insist(work, |_| {}).await.unwrap_err();
        assert!(
            begin.elapsed() < Duration::from_secs(35),
            "{:?}",
            begin.elapsed()
        );

        tokio::time::sleep(Duration::from_secs(20)).await;
        let attempts = Cell::new(0);
        let work = async || {
            attempts.set(attempts.get() + 1);
            Err::<(), _>(passing())
        };
        patience.insist(work, |_| {}).await.unwrap_err();
        assert_eq!(
            attempts.get(),
            1,
            "the time is up, but the first attempt is always made"
        );
    }
}
