//! The rate at which a server takes requests, learned from its answers and refusals.
//!
//! A refusal for the rate cuts the rate to just under that of the latest answers. From there the
//! rate grows with the cube of the time: slowly at first, so that it stays near the limit for long,
//! then quickly, so that it finds a higher limit soon. Time and not the number of answers decides,
//! and a node that sends more is refused more often: so nodes that share a limit come to share it
//! evenly.
//!
//! Only a refusal under load shows a limit: the rate held back at least half of the latest answered
//! requests, so that the node asked for as much as it may. A node that asks for less is refused for
//! what others send, and a stray refusal of it lowers nothing. Until a limit was seen under load, the
//! rate is a guess, and multiplies with each round trip in which the server answers what was held
//! back: a burst on a quiet host soon goes as fast as without a rate.
//!
//! A server that refuses most requests, such as one whose minute is used up, is asked ever more
//! slowly, and at nearly the earlier rate after a few answers. The earlier rate itself is lowered only
//! when a request that was sent since it was lowered last was answered: the answers to those that
//! were under way when a server began to refuse everything say nothing of what it takes now.

use std::collections::VecDeque;
use std::time::Duration;

/// Number of latest answers over which the rate of answers is measured.
const MEASURED: usize = 40;
/// Number of answers below which no rate is measured.
const FEWEST_MEASURED: usize = 8;
/// The part of the measured rate to which a refusal cuts the rate.
const AFTER_CUT: f64 = 0.92;
/// The same for a node that held back fewer than half of its latest requests, and is mostly refused.
const AFTER_CUT_UNHELD: f64 = 2.0;
/// The latest answers among which those to requests that were held back count.
const HELD_BACK_OF: usize = 20;
/// The share of answers among the latest requests up to which a server counts as refusing most
/// requests.
const MOSTLY_REFUSING: f64 = 0.8;
/// Seconds of growth after which the rate has doubled, and requests that fit into them at least: the
/// probes of a slow server stay rare.
const DOUBLED_AFTER: f64 = 8.0;
const PROBED_AFTER: f64 = 60.0;
/// The most times that `DOUBLED_AFTER` counts.
const LONGEST_GROWTH: f64 = 8.0;
/// The factor of an answer to a rate below the one to recover, and of a round trip to a guess.
const RECOVERY: f64 = 4.0;
/// Requests a second beyond which a guess does not grow: it holds nothing back any more.
const HIGHEST_GUESS: f64 = 100_000.0;
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

/// A request that may be sent now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacedRequest {
    pub(super) sent_at: Duration,
    pub(super) was_held_back: bool,
}

/// A learned rate. Times are durations since an origin.
#[derive(Clone, Debug)]
pub(super) struct LearnedRate {
    /// Requests a second.
    rate: f64,
    /// The rate from which growth begins, and to which answers restore the rate.
    recovered: f64,
    /// When the rate was cut last. Refusals of requests sent before are part of that cut.
    cut_at: Duration,
    /// When the rate to recover was lowered last.
    lowered_at: Duration,
    grows_since: Duration,
    /// Whether the rate follows from refusals under load; else it is a guess.
    is_measured: bool,
    /// Times of the latest answers, and whether their requests were held back.
    answers: VecDeque<(Duration, bool)>,
    /// When the request was sent that was sent last of those answered.
    answered_last_sent_at: Duration,
    latest: LatestRequests,
    /// When a request may be sent next at this rate.
    next_at: Duration,
    /// The end of the rest that the server asked for.
    rests_until: Duration,
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
            lowered_at: Duration::ZERO,
            grows_since: now,
            is_measured: false,
            answers: VecDeque::with_capacity(MEASURED),
            answered_last_sent_at: Duration::ZERO,
            latest: LatestRequests::default(),
            next_at: now,
            rests_until: now,
        }
    }

    /// Requests a second.
    pub(super) fn per_second(&self) -> f64 {
        self.rate
    }

    /// Whether a limit was seen under load.
    pub(super) fn is_measured(&self) -> bool {
        self.is_measured
    }

    /// How long to wait before the next request.
    pub(super) fn wait(&self, now: Duration) -> Duration {
        self.next_at.max(self.rests_until).saturating_sub(now)
    }

    /// Spends the time of one request.
    pub(super) fn spend(&mut self, now: Duration) {
        let each = Duration::try_from_secs_f64(1.0 / self.rate).unwrap_or(Duration::MAX);
        let saved = (SAVED_REQUESTS / self.rate).min(SAVED_TIME);
        let saved = Duration::try_from_secs_f64(saved).unwrap_or_default();
        let begin = self.next_at.max(now.saturating_sub(saved.max(LATENESS)));
        self.next_at = begin.saturating_add(each);
    }

    /// Learns from an answer. Only that to a request which the rate held back shows that the server
    /// takes more. Returns whether those that wait may go sooner.
    pub(super) fn answered(&mut self, now: Duration, request: PacedRequest) -> bool {
        let PacedRequest {
            sent_at,
            was_held_back,
        } = request;
        if self.answers.len() == MEASURED {
            self.answers.pop_front();
        }
        self.answers.push_back((now, was_held_back));
        self.answered_last_sent_at = self.answered_last_sent_at.max(sent_at);
        self.latest.add(true);
        if self.rate < self.recovered {
            self.speed_up(now, self.recovered);
            return true;
        }
        if !self.is_measured {
            // once a round trip
            let shows_more = was_held_back && sent_at > self.grows_since;
            if shows_more {
                self.speed_up(now, HIGHEST_GUESS);
                self.recovered = self.rate;
            }
            return shows_more;
        }
        if was_held_back {
            let time = now.saturating_sub(self.grows_since).as_secs_f64();
            let doubled_after = DOUBLED_AFTER.max(PROBED_AFTER / self.recovered);
            let grown = (time / doubled_after).min(LONGEST_GROWTH);
            self.rate = self.recovered * (grown * grown).mul_add(grown, 1.0);
        } else {
            // the rate has reached the load: it grows on from what the server answered
            let answered = self.measured(now).unwrap_or_default();
            self.recovered = self.recovered.max(answered.min(self.rate));
            self.grows_since = now;
        }
        false
    }

    /// Multiplies the rate, up to `most`, and brings forward the next request.
    fn speed_up(&mut self, now: Duration, most: f64) {
        let faster = (self.rate * RECOVERY).min(most).max(self.rate);
        let left = self.next_at.saturating_sub(now).as_secs_f64();
        let left = Duration::try_from_secs_f64(left * self.rate / faster).unwrap_or_default();
        self.next_at = self.next_at.min(now.saturating_add(left));
        self.rate = faster;
        self.grows_since = now;
    }

    /// Learns from a refusal, for the rate, of a request that was sent at `sent_at`. A server that
    /// refuses most requests gets none for the time that it asked for.
    pub(super) fn refused(&mut self, now: Duration, sent_at: Duration, asked: Option<Duration>) {
        self.latest.add(false);
        let answered = self.latest.share();
        let refuses_most = answered <= MOSTLY_REFUSING;
        if let (true, Some(asked)) = (refuses_most, asked) {
            self.rests_until = self.rests_until.max(now.saturating_add(asked));
        }
        if sent_at <= self.cut_at {
            return;
        }
        let is_under_load = self.is_held_back();
        if !is_under_load && !refuses_most {
            return;
        }
        let measured = self.measured(now);
        if measured.is_some() {
            self.is_measured = is_under_load;
        }
        let measured = measured.unwrap_or(self.rate);
        let cut = if is_under_load {
            AFTER_CUT * measured.min(self.rate)
        } else {
            AFTER_CUT_UNHELD * measured
        };
        let has_answered_since = self.answered_last_sent_at > self.lowered_at;
        if refuses_most {
            let cut = cut * answered;
            if has_answered_since {
                self.recovered = cut.max(0.85 * self.recovered);
                self.lowered_at = now;
            }
            let lowest = LOWEST.min(self.recovered / 10.0);
            self.rate = cut.clamp(lowest, self.recovered.max(lowest));
        } else {
            self.recovered = cut.max(0.7 * self.recovered);
            self.lowered_at = now;
            self.rate = self.recovered.min(cut);
        }
        self.cut_at = now;
        self.grows_since = now;
    }

    /// Whether the rate held back at least half of the latest answered requests.
    fn is_held_back(&self) -> bool {
        let latest = self.answers.iter().rev().take(HELD_BACK_OF);
        let held_back = latest.filter(|(_, was_held_back)| *was_held_back);
        2 * held_back.count() >= self.answers.len().min(HELD_BACK_OF)
    }

    /// Answers a second over the latest answers; `None` if they are too few.
    fn measured(&self, now: Duration) -> Option<f64> {
        if self.answers.len() < FEWEST_MEASURED {
            return None;
        }
        let count = u32::try_from(self.answers.len()).ok()?;
        let (first, _) = self.answers.front()?;
        let since = now.saturating_sub(*first).as_secs_f64();
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
