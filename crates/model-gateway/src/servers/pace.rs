//! The pace of requests to one server: what its host allows by setting, and what it is seen to
//! take. A server without settings that has refused nothing is not paced.
//!
//! A host beyond its limit refuses all that is too much; one that refuses a request now and then has
//! taken the others, and the second attempts. So a rate is learned once three of the latest twenty
//! requests were refused, never from one refusal of a quiet host.

mod learned_rate;

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::timeout;

use self::learned_rate::LearnedRate;
use crate::priority_queue::{CallPriority, PriorityQueue};

pub(crate) use self::learned_rate::PacedRequest;

/// The time without a request held back after which a learned rate is given up.
const IDLE_AFTER: Duration = Duration::from_mins(1);
/// Refusals among the latest 20 requests from which on a rate is learned.
const FEWEST_REFUSALS: u32 = 3;
const LATEST: u32 = (1 << 20) - 1;
/// The longest time for which a server that asks for one gets no request.
const LONGEST_REST: Duration = Duration::from_secs(5);

/// What a host allows, by the operator's settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostLimits {
    pub(crate) requests_per_minute: Option<NonZeroU32>,
    pub(crate) tokens_per_minute: Option<NonZeroU32>,
}

/// The pace of one server, shared by all threads.
#[derive(Debug)]
pub(crate) struct ServerPace {
    /// Times are durations since this moment.
    origin: Instant,
    /// Whether there is any limit; without one, nothing is locked.
    is_limited: AtomicBool,
    /// A bit for each of the latest 20 requests: 1 for a refused one.
    refused: AtomicU32,
    limits: Mutex<PaceLimits>,
    queue: PriorityQueue,
    /// Wakes the first request that waits when it may go sooner.
    faster: Notify,
}

#[derive(Debug)]
struct PaceLimits {
    requests: Option<Budget>,
    tokens: Option<Budget>,
    learned: Option<LearnedRate>,
    /// When the learned rate held back a request last.
    held_back_at: Duration,
}

impl ServerPace {
    pub(crate) fn new(host: HostLimits) -> Self {
        let limits = PaceLimits {
            requests: host.requests_per_minute.map(Budget::per_minute),
            tokens: host.tokens_per_minute.map(Budget::per_minute),
            learned: None,
            held_back_at: Duration::ZERO,
        };
        Self {
            origin: Instant::now(),
            is_limited: AtomicBool::new(limits.are_any()),
            refused: AtomicU32::new(0),
            limits: Mutex::new(limits),
            queue: PriorityQueue::default(),
            faster: Notify::new(),
        }
    }

    /// Whether any limit may hold requests back.
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited.load(Ordering::Relaxed)
    }

    /// Begins a request of about this many tokens if it need not wait.
    pub(crate) fn try_begin(&self, tokens: usize) -> Option<PacedRequest> {
        if !self.is_limited() {
            return Some(self.begun(false));
        }
        if self.queue.count() > 0 {
            return None;
        }
        let now = self.now();
        self.limits().try_spend(now, tokens).ok()?;
        Some(self.begun(false))
    }

    /// Waits until a request of about this many tokens may be sent: first those of higher priority,
    /// then those that came before.
    pub(crate) async fn begin(&self, priority: CallPriority, tokens: usize) -> PacedRequest {
        let spend = || async {
            loop {
                let spent = self.limits().try_spend(self.now(), tokens);
                match spent {
                    Ok(()) => return self.begun(true),
                    // either way, the wait is looked up again
                    Err(wait) => {
                        let _ = timeout(wait, self.faster.notified()).await;
                    }
                }
            }
        };
        self.queue.take_in_order(priority, spend).await
    }

    /// Begins a request that has waited for as long as it may, if only a guessed rate holds it back:
    /// no call fails for a guess while the server answers.
    pub(crate) fn begin_overdue(&self, tokens: usize) -> Option<PacedRequest> {
        let now = self.now();
        let mut limits = self.limits();
        if limits.learned.as_ref()?.is_measured() || !limits.budget_wait(now, tokens).is_zero() {
            return None;
        }
        limits.spend(now, tokens);
        Some(self.begun(true))
    }

    /// Learns from an answer to a request.
    pub(crate) fn answered(&self, request: PacedRequest) {
        self.note(0);
        if !self.is_limited() {
            return;
        }
        let now = self.now();
        let mut limits = self.limits();
        if request.was_held_back {
            limits.held_back_at = now;
        }
        let is_idle = now.saturating_sub(limits.held_back_at) > IDLE_AFTER;
        match &mut limits.learned {
            Some(_) if is_idle => {
                limits.learned = None;
                self.is_limited.store(limits.are_any(), Ordering::Relaxed);
            }
            Some(learned) => {
                let is_faster = learned.answered(now, request);
                if is_faster {
                    self.faster.notify_one();
                }
            }
            None => {}
        }
    }

    /// Learns from a refusal, for its rate, of a request. `asked` is how long the server asks to
    /// wait, and `in_flight` the number of requests that it works on.
    pub(crate) fn refused(&self, request: PacedRequest, asked: Option<Duration>, in_flight: usize) {
        let refusals = self.note(1);
        let now = self.now();
        let asked = asked.map(|asked| asked.min(LONGEST_REST));
        let mut limits = self.limits();
        if let Some(learned) = &mut limits.learned {
            learned.refused(now, request.sent_at, asked);
        } else if refusals >= FEWEST_REFUSALS {
            let after = now.saturating_sub(request.sent_at);
            limits.learned = Some(LearnedRate::first(now, after, in_flight));
            limits.held_back_at = now;
            self.is_limited.store(true, Ordering::Relaxed);
        }
    }

    /// Requests a minute that the server is seen to take; `None` if it has refused none of late.
    pub(crate) fn learned_per_minute(&self) -> Option<u64> {
        if !self.is_limited() {
            return None;
        }
        let limits = self.limits();
        let learned = limits.learned.as_ref();
        let per_second = learned.filter(|learned| learned.is_measured())?;
        let per_second = per_second.per_second();
        let minute = Duration::try_from_secs_f64(per_second * 60.0).unwrap_or(Duration::MAX);
        Some(minute.as_secs())
    }

    /// Number of requests held back now.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.count()
    }

    /// Notes the end of a request: 1 for a refused one. Returns the refusals among the latest.
    fn note(&self, end: u32) -> u32 {
        let order = Ordering::Relaxed;
        // usually nothing is written, so that threads do not contend for the cache line
        if end == 0 && self.refused.load(order) == 0 {
            return 0;
        }
        let add = |latest: u32| (latest << 1 | end) & LATEST;
        let before = self
            .refused
            .fetch_update(order, order, |latest| Some(add(latest)));
        add(before.unwrap_or_default()).count_ones()
    }

    fn begun(&self, was_held_back: bool) -> PacedRequest {
        PacedRequest {
            sent_at: self.now(),
            was_held_back,
        }
    }

    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    fn limits(&self) -> MutexGuard<'_, PaceLimits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PaceLimits {
    fn are_any(&self) -> bool {
        self.requests.is_some() || self.tokens.is_some() || self.learned.is_some()
    }

    /// Spends what a request costs, or returns how long to wait first.
    fn try_spend(&mut self, now: Duration, tokens: usize) -> Result<(), Duration> {
        let learned = self.learned.as_ref().map(|learned| learned.wait(now));
        let wait = learned
            .unwrap_or_default()
            .max(self.budget_wait(now, tokens));
        if !wait.is_zero() {
            return Err(wait);
        }
        self.spend(now, tokens);
        Ok(())
    }

    /// How long to wait for the settings of the host.
    fn budget_wait(&mut self, now: Duration, tokens: usize) -> Duration {
        let requests = self.requests.as_mut().map(|budget| budget.wait(now, 1.0));
        let tokens = counted(tokens);
        let tokens = self.tokens.as_mut().map(|budget| budget.wait(now, tokens));
        requests.max(tokens).unwrap_or_default()
    }

    fn spend(&mut self, now: Duration, tokens: usize) {
        if let Some(learned) = &mut self.learned {
            learned.spend(now);
        }
        if let Some(requests) = &mut self.requests {
            requests.spend(now, 1.0);
        }
        if let Some(budget) = &mut self.tokens {
            budget.spend(now, counted(tokens));
        }
    }
}

fn counted(tokens: usize) -> f64 {
    f64::from(u32::try_from(tokens).unwrap_or(u32::MAX))
}

/// The part of a minute's budget that may be spent at once.
const BURST: f64 = 1.0 / 20.0;

/// A budget that refills evenly. Times are durations since an origin.
#[derive(Clone, Debug)]
struct Budget {
    per_second: f64,
    /// The most that is left at any time.
    most: f64,
    /// What is left; below 0 after a request that cost more than was left.
    left: f64,
    at: Duration,
}

impl Budget {
    /// A full budget.
    fn per_minute(allowed: NonZeroU32) -> Self {
        let allowed = f64::from(allowed.get());
        let most = (allowed * BURST).max(1.0);
        Self {
            per_second: allowed / 60.0,
            most,
            left: most,
            at: Duration::ZERO,
        }
    }

    /// How long to wait before a request that costs this much. A request that costs more than the
    /// budget ever has waits for a full one.
    fn wait(&mut self, now: Duration, cost: f64) -> Duration {
        self.refill(now);
        let lacking = cost.min(self.most) - self.left;
        if lacking <= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(lacking / self.per_second).unwrap_or(Duration::MAX)
    }

    fn spend(&mut self, now: Duration, cost: f64) {
        self.refill(now);
        self.left -= cost;
    }

    fn refill(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        self.left = passed.mul_add(self.per_second, self.left).min(self.most);
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests;
