//! How long to pause before the second attempt.

use std::time::Duration;

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
