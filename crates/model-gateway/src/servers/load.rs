//! Load and health of one model server, counted by all threads without a lock.
//!
//! The circuit breaker decides when a failing server is ejected, and for how long. Times are
//! arguments: durations since a fixed moment.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::pace::ServerPace;

/// The use of one model server, for metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUse {
    /// Host and port.
    pub name: String,
    /// Requests sent since the process began; every attempt counts.
    pub requests: u64,
    /// Requests that failed: no connection, a broken connection, a timeout, or a 429 or 5xx of an
    /// overloaded or failing server.
    pub failures: u64,
    /// Requests in flight.
    pub in_flight: usize,
    /// Whether the server has failed repeatedly and gets only probes.
    pub is_ejected: bool,
    /// Requests that wait for the server's pace.
    pub waiting: usize,
    /// Requests a minute that the server is seen to take; `None` if it has refused none of late.
    pub learned_per_minute: Option<u64>,
}

impl ServerUse {
    /// Adds the use of a server with the same host and port. The sum counts as ejected if either
    /// server is, and takes what both take if that is known of both.
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.failures = self.failures.saturating_add(other.failures);
        self.in_flight = self.in_flight.saturating_add(other.in_flight);
        self.is_ejected |= other.is_ejected;
        self.waiting = self.waiting.saturating_add(other.waiting);
        let both = self.learned_per_minute.zip(other.learned_per_minute);
        self.learned_per_minute = both.map(|(one, other)| one.saturating_add(other));
    }
}

/// Counts of one server. Ended requests are counted rather than those in flight: a request then
/// costs two additions and no comparison.
#[derive(Debug)]
pub(super) struct ServerLoad {
    name: String,
    begun: AtomicUsize,
    ended: AtomicUsize,
    failures: AtomicU64,
    has_answered: AtomicBool,
    /// A packed [`ServerHealth`].
    health: AtomicU64,
}

impl ServerLoad {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            failures: AtomicU64::new(0),
            has_answered: AtomicBool::new(false),
            health: AtomicU64::new(ServerHealth::default().to_word()),
        }
    }

    pub(super) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn in_flight(&self) -> usize {
        // the difference must not become negative if a request begins and ends between both reads
        let ended = self.ended.load(Ordering::Relaxed);
        self.begun.load(Ordering::Relaxed).saturating_sub(ended)
    }

    pub(super) fn count_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn note_answer(&self) {
        // usually nothing is written, so that threads do not contend for the cache line
        if !self.has_answered() {
            self.has_answered.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    pub(super) fn health(&self) -> ServerHealth {
        ServerHealth::of_word(self.health.load(Ordering::Relaxed))
    }

    /// Begins a probe if one is due. Returns whether the caller's request is that probe.
    pub(super) fn begins_probe(&self, now: Duration) -> bool {
        self.change(|health| health.probed(now)).is_some()
    }

    pub(super) fn probe_is_inconclusive(&self, now: Duration) {
        self.change(|health| Some(health.after_inconclusive_probe(now)));
    }

    pub(super) fn failed(&self, is_probe: bool, now: Duration) {
        let jitter = rand::random_range(JITTER);
        let Some(before) = self.change(|health| Some(health.failed(is_probe, now, jitter))) else {
            return;
        };
        let after = before.failed(is_probe, now, jitter);
        if after.due() != before.due() {
            tracing::warn!(
                server = self.name,
                pause = ?after.due().saturating_sub(now),
                "a model server failed repeatedly and is ejected"
            );
        }
    }

    pub(super) fn answered(&self) {
        let well = ServerHealth::default().to_word();
        // usually nothing is written, so that threads do not contend for the cache line
        if self.health.load(Ordering::Relaxed) == well {
            return;
        }
        let before = ServerHealth::of_word(self.health.swap(well, Ordering::Relaxed));
        if before.is_ejected() {
            tracing::info!(server = self.name, "a model server answers again");
        }
    }

    pub(super) fn server_use(&self, pace: &ServerPace) -> ServerUse {
        ServerUse {
            name: self.name.clone(),
            requests: u64::try_from(self.begun.load(Ordering::Relaxed)).unwrap_or(u64::MAX),
            failures: self.failures.load(Ordering::Relaxed),
            in_flight: self.in_flight(),
            is_ejected: self.health().is_ejected(),
            waiting: pace.waiting(),
            learned_per_minute: pace.learned_per_minute(),
        }
    }

    /// Changes the health and returns the previous one; `None` if it does not change.
    fn change(
        &self,
        change: impl Fn(ServerHealth) -> Option<ServerHealth>,
    ) -> Option<ServerHealth> {
        let order = Ordering::Relaxed;
        let changed = |word| change(ServerHealth::of_word(word)).map(ServerHealth::to_word);
        let before = self.health.fetch_update(order, order, changed);
        before.ok().map(ServerHealth::of_word)
    }
}

/// Number of consecutive failures after which a server is ejected.
pub(super) const FAILURES_BEFORE_PAUSE: u8 = 3;
/// The first pause before an ejected server is probed; each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Jitter: the share of a pause that is waited, in thousandths, so that the nodes of a service do
/// not probe a server all at once.
pub(super) const JITTER: RangeInclusive<u32> = 750..=1000;

/// The state of one server's circuit breaker: closed, or open (ejected) until a probe is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerHealth {
    /// At most [`FAILURES_BEFORE_PAUSE`].
    failures_in_row: u8,
    /// Number of consecutive pauses; 0 for a server that is not ejected.
    pauses: u8,
    /// When to probe an ejected server.
    due: Duration,
}

impl ServerHealth {
    pub(super) fn is_ejected(self) -> bool {
        self.pauses > 0
    }

    pub(super) fn due(self) -> Duration {
        self.due
    }

    pub(super) fn is_due(self, now: Duration) -> bool {
        self.is_ejected() && self.due <= now
    }

    /// The half-open state: a probe is in flight, and no second one is due meanwhile. `None` if no
    /// probe is due.
    pub(super) fn probed(self, now: Duration) -> Option<Self> {
        let due = now.saturating_add(LONGEST_PAUSE);
        self.is_due(now).then_some(Self { due, ..self })
    }

    /// The health after an inconclusive probe: another probe is due.
    pub(super) fn after_inconclusive_probe(self, now: Duration) -> Self {
        match self.pauses {
            0 => self,
            _ => Self { due: now, ..self },
        }
    }

    /// The health after a failure. While the server is ejected, only a failed probe lengthens the
    /// pause: many requests may have been in flight at the first failure.
    pub(super) fn failed(self, is_probe: bool, now: Duration, jitter: u32) -> Self {
        let failures_in_row = self.failures_in_row.saturating_add(1);
        let pauses = match self.pauses {
            0 if failures_in_row < FAILURES_BEFORE_PAUSE => {
                return Self {
                    failures_in_row,
                    ..self
                };
            }
            0 => 1,
            pauses if is_probe => pauses.saturating_add(1),
            _ => return self,
        };
        Self {
            failures_in_row: FAILURES_BEFORE_PAUSE,
            pauses,
            due: now.saturating_add(pause(pauses, jitter)),
        }
    }

    /// Packs the health into 64 bits: six bytes of milliseconds, a byte for each count.
    pub(super) fn to_word(self) -> u64 {
        let due = u64::try_from(self.due.as_millis()).unwrap_or(u64::MAX);
        let counts = u16::from_be_bytes([self.failures_in_row, self.pauses]);
        due << u16::BITS | u64::from(counts)
    }

    pub(super) fn of_word(word: u64) -> Self {
        let [.., failures_in_row, pauses] = word.to_be_bytes();
        Self {
            failures_in_row,
            pauses,
            due: Duration::from_millis(word >> u16::BITS),
        }
    }
}

/// The pause with this number, counted from 1, times `jitter` thousandths.
fn pause(number: u8, jitter: u32) -> Duration {
    let doublings = u32::from(number.saturating_sub(1));
    let times = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
    let whole = FIRST_PAUSE.saturating_mul(times).min(LONGEST_PAUSE);
    whole.saturating_mul(jitter) / 1000
}

#[cfg(test)]
mod tests;
