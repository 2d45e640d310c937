//! Requests that follow each other, such as a question and its follow-up requests, and the pause before
//! a second attempt.

use std::time::Duration;

use crate::servers::ServerPlace;

/// The server of a series of requests, and the time left for them. The whole series may take two
/// attempts and one pause. Waiting for a permit of the concurrency limit does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestSeries {
    pub(crate) attempts: Duration,
    pub(crate) pauses: Duration,
    /// The server of the last request; `None` until the first one is sent.
    pub(crate) sent_to: Option<ServerPlace>,
}

impl RequestSeries {
    /// Starts a series whose attempts have this timeout.
    pub(crate) fn new(timeout: Duration) -> Self {
        Self {
            attempts: timeout.saturating_mul(2),
            pauses: LONGEST_PAUSE,
            sent_to: None,
        }
    }

    /// A series with the same time left, for a request that may go to any server.
    pub(crate) fn for_another_request(self) -> Self {
        Self {
            sent_to: None,
            ..self
        }
    }

    /// Whether no time is left for another attempt.
    pub(crate) fn is_spent(self) -> bool {
        self.attempts.is_zero()
    }

    /// The server that answered last; the first of the list if nothing was sent yet.
    pub(crate) fn server(self) -> ServerPlace {
        self.sent_to.unwrap_or_default()
    }

    /// Joins this series with one that ran concurrently: takes the shorter time left, and the
    /// other's server.
    #[must_use]
    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            attempts: self.attempts.min(other.attempts),
            pauses: self.pauses.min(other.pauses),
            sent_to: other.sent_to,
        }
    }
}

/// The longest pause. A series of requests pauses no longer in total.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Bounds of the random pause in milliseconds, so that callers do not return all at once.
const JITTER_MS: std::ops::RangeInclusive<u64> = 100..=400;

/// The pause: as long as the server asks, up to five seconds; otherwise short and random.
pub(crate) fn pause(asked: Option<Duration>) -> Duration {
    match asked {
        Some(asked) => asked.min(LONGEST_PAUSE),
        None => Duration::from_millis(rand::random_range(JITTER_MS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_waited_for_up_to_five_seconds_and_shortly_if_it_asks_for_nothing() {
        for (asked, expected) in [(0, 0), (1_500, 1_500), (5_000, 5_000), (120_000, 5_000)] {
            let expected = Duration::from_millis(expected);
            assert_eq!(pause(Some(Duration::from_millis(asked))), expected);
        }
        let bounds = Duration::from_millis(100)..=Duration::from_millis(400);
        assert!(bounds.contains(&pause(None)));
    }
}
