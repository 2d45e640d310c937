//! How long to pause before the second attempt.

use std::time::{Duration, SystemTime};

/// The longest pause that a server can ask for.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The pause in milliseconds if the server asks for none. Jitter keeps requests that failed
/// together from returning together.
const JITTER_MS: std::ops::RangeInclusive<u64> = 100..=400;

/// The pause that `Retry-After` asks for, at most 5 s. A missing or unreadable header gives a short
/// pause with jitter.
pub(crate) fn pause(retry_after: Option<&str>, now: SystemTime) -> Duration {
    match retry_after.and_then(|value| asked_pause(value.trim(), now)) {
        Some(asked) => asked.min(LONGEST_PAUSE),
        None => Duration::from_millis(rand::random_range(JITTER_MS)),
    }
}

/// Reads seconds or a date; a date in the past asks for no pause.
fn asked_pause(value: &str, now: SystemTime) -> Option<Duration> {
    if value.is_empty() {
        return None;
    }
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        // a number with too many digits to parse exceeds the longest pause anyway
        return Some(value.parse().map_or(LONGEST_PAUSE, Duration::from_secs));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> SystemTime {
        httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap()
    }

    #[test]
    fn seconds_and_dates_are_waited_for_up_to_five_seconds() {
        for (value, seconds) in [
            ("0", 0),
            (" 2 ", 2),
            ("120", 5),
            ("99999999999999999999999999", 5),
            ("Sun, 06 Nov 1994 08:49:40 GMT", 3),
            ("Sunday, 06-Nov-94 08:49:40 GMT", 3),
            ("Sun, 06 Nov 1994 09:49:37 GMT", 5),
            ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
        ] {
            assert_eq!(
                pause(Some(value), now()),
                Duration::from_secs(seconds),
                "{value}"
            );
        }
    }

    #[test]
    fn without_one_that_can_be_read_the_pause_is_short() {
        let bounds = Duration::from_millis(100)..=Duration::from_millis(400);
        for value in [
            None,
            Some(""),
            Some("soon"),
            Some("-1"),
            Some("inf"),
            Some("1e3"),
        ] {
            assert!(bounds.contains(&pause(value, now())), "{value:?}");
        }
    }
}
