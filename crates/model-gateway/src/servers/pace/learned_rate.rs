//! The rate at which a server takes requests, learned from its answers and refusals.
//!
//! A refusal for the rate cuts the rate to just under that of the latest answers. From there the
//! rate grows with the cube of the time: slowly at first, so that it stays near the limit for long,
//! then quickly, so that it finds a higher limit soon. Time and not the number of answers decides,
//! and a node that sends more is refused more often: so nodes that share a limit come to share it
//! evenly. A node that asks for less than it may is refused for what others send: it keeps twice the
//! rate of its answers, so that its calls need not wait.
//!
//! A server that refuses most requests, such as one whose minute is used up, is asked ever more
//! slowly, and at nearly the earlier rate after a few answers.

use std::collections::VecDeque;
use std::time::Duration;

/// Number of latest answers over which the rate of answers is measured.
const MEASURED: usize = 40;
/// Number of answers below which no rate is measured.
const FEWEST_MEASURED: usize = 8;
/// The part of the measured rate to which a refusal cuts the rate.
const AFTER_CUT: f64 = 0.92;
/// The same for a node that held back fewer than half of its latest requests.
const AFTER_CUT_UNHELD: f64 = 2.0;
/// The share of answers among the latest requests up to which a server counts as refusing most
/// requests.
const MOSTLY_REFUSING: f64 = 0.8;
/// Seconds of growth after which the rate has doubled, and requests that fit into them at least: the
/// probes of a slow server stay rare.
const DOUBLED_AFTER: f64 = 8.0;
const PROBED_AFTER: f64 = 60.0;
/// The most times that `DOUBLED_AFTER` counts.
const LONGEST_GROWTH: f64 = 8.0;
/// The factor of an answer to a rate below the one to recover.
const RECOVERY: f64 = 4.0;
/// Requests a second to which refusals can always lower the rate.
const LOWEST: f64 = 1.0;
/// The shortest time to an answer that the first estimate counts with.
const SHORTEST_ANSWER: Duration = Duration::from_millis(100);
/// What was missed by at most this time is made up for: timers are that late.
const LATENESS: Duration = Duration::from_millis(10);
/// Requests missed by a node that sends fewer than it may are made up for: up to this many, and up to
/// those of a second. Otherwise the calls of a node beside a busy one would wait for its own rate.
const SAVED_REQUESTS: f64 = 4.0;
const SAVED_TIME: f64 = 1.0;

/// A learned rate. Times are durations since an origin.
#[derive(Clone, Debug)]
pub(super) struct LearnedRate {
    /// Requests a second.
    rate: f64,
    /// The rate from which growth begins, and to which answers restore the rate.
    recovered: f64,
    /// When the rate was cut last. Refusals of requests sent before are part of that cut.
    cut_at: Duration,
    grows_since: Duration,
    /// Times of the latest answers.
    answers: VecDeque<Duration>,
    latest: LatestRequests,
    /// Which of the latest answered requests were held back.
    held_back: LatestRequests,
    /// When a request may be sent next.
    next_at: Duration,
}

impl LearnedRate {
    /// The estimate at the first refusal, which came `after` the request was sent while `in_flight`
    /// requests were under way.
    pub(super) fn first(now: Duration, after: Duration, in_flight: usize) -> Self {
        let in_flight = u32::try_from(in_flight).unwrap_or(u32::MAX).max(1);
        let rate = f64::from(in_flight) / after.max(SHORTEST_ANSWER).as_secs_f64();
        Self {
            rate,
            recovered: rate,
            cut_at: now,
            grows_since: now,
            answers: VecDeque::with_capacity(MEASURED),
            latest: LatestRequests::default(),
            held_back: LatestRequests::default(),
            next_at: now,
        }
    }

    /// Requests a second.
    pub(super) fn per_second(&self) -> f64 {
        self.rate
    }

    /// How long to wait before the next request.
    pub(super) fn wait(&self, now: Duration) -> Duration {
        self.next_at.saturating_sub(now)
    }

    /// Spends the time of one request.
    pub(super) fn spend(&mut self, now: Duration) {
        let each = Duration::try_from_secs_f64(1.0 / self.rate).unwrap_or(Duration::MAX);
        let saved = (SAVED_REQUESTS / self.rate).min(SAVED_TIME);
        let saved = Duration::try_from_secs_f64(saved).unwrap_or_default();
        let begin = self.next_at.max(now.saturating_sub(saved.max(LATENESS)));
        self.next_at = begin.saturating_add(each);
    }

    /// Learns from an answer. `was_held_back` is whether the rate held the request back: otherwise
    /// answers do not show that the server takes more.
    pub(super) fn answered(&mut self, now: Duration, was_held_back: bool) {
        if self.answers.len() == MEASURED {
            self.answers.pop_front();
        }
        self.answers.push_back(now);
        self.latest.add(true);
        self.held_back.add(was_held_back);
        if self.rate < self.recovered {
            self.rate = (self.rate * RECOVERY).min(self.recovered);
            self.grows_since = now;
        } else if was_held_back {
            let time = now.saturating_sub(self.grows_since).as_secs_f64();
            let doubled_after = DOUBLED_AFTER.max(PROBED_AFTER / self.recovered);
            let grown = (time / doubled_after).min(LONGEST_GROWTH);
            self.rate = self.recovered * (grown * grown).mul_add(grown, 1.0);
        } else {
            self.grows_since = now;
        }
    }

    /// Learns from a refusal, for the rate, of a request that was sent at `sent_at`. A server that
    /// refuses most requests gets none for the time that it asked for.
    pub(super) fn refused(&mut self, now: Duration, sent_at: Duration, asked: Option<Duration>) {
        self.latest.add(false);
        let answered = self.latest.share();
        let refuses_most = answered <= MOSTLY_REFUSING;
        if let (true, Some(asked)) = (refuses_most, asked) {
            self.next_at = self.next_at.max(now.saturating_add(asked));
        }
        if sent_at <= self.cut_at {
            return;
        }
        let measured = self.measured(now).unwrap_or(self.rate);
        let cut = if self.held_back.share() < 0.5 {
            AFTER_CUT_UNHELD * measured
        } else {
            AFTER_CUT * measured.min(self.rate)
        };
        let has_answered = self.answers.back().is_some_and(|last| *last > self.cut_at);
        if refuses_most {
            let cut = cut * answered;
            if has_answered {
                self.recovered = cut.max(0.85 * self.recovered);
            }
            let lowest = LOWEST.min(self.recovered / 10.0);
            self.rate = cut.clamp(lowest, self.recovered.max(lowest));
        } else {
            self.recovered = cut.max(0.7 * self.recovered);
            self.rate = self.recovered.min(cut);
        }
        self.cut_at = now;
        self.grows_since = now;
    }

    /// Answers a second over the latest answers; `None` if they are too few.
    fn measured(&self, now: Duration) -> Option<f64> {
        if self.answers.len() < FEWEST_MEASURED {
            return None;
        }
        let count = u32::try_from(self.answers.len()).ok()?;
        let since = now.saturating_sub(*self.answers.front()?).as_secs_f64();
        (since > 0.0).then(|| f64::from(count) / since)
    }
}

/// Whether something is true of each of the latest 20 requests, one bit each; at first of all.
#[derive(Clone, Copy, Debug)]
struct LatestRequests(u32);

impl Default for LatestRequests {
    fn default() -> Self {
        Self(Self::ALL)
    }
}

impl LatestRequests {
    const ALL: u32 = (1 << 20) - 1;

    fn add(&mut self, is_true: bool) {
        self.0 = ((self.0 << 1) | u32::from(is_true)) & Self::ALL;
    }

    /// The share of requests of which it is true, 0 to 1.
    fn share(self) -> f64 {
        f64::from(self.0.count_ones()) / 20.0
    }
}

#[cfg(test)]
mod tests;
