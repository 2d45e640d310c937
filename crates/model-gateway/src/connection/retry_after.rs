//! How long a server asks to wait before the next request.

use std::time::{Duration, SystemTime};

use hyper::header::{HeaderMap, RETRY_AFTER};

/// The header of some hosts with milliseconds, which is more exact than `Retry-After`.
const RETRY_AFTER_MS: &str = "retry-after-ms";
/// What a number with too many digits counts as: longer than any wait.
const VERY_LONG: Duration = Duration::from_secs(1_000_000_000);

/// The time that the headers of an answer name; `None` without a readable one.
pub(super) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim());
    let milliseconds = value(RETRY_AFTER_MS).and_then(decimal);
    if let Some(milliseconds) = milliseconds {
        return Some(duration(milliseconds / 1_000.0));
    }
    let value = value(RETRY_AFTER.as_str())?;
    if let Some(seconds) = decimal(value) {
        return Some(duration(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

/// Reads a number of digits with at most one point between them.
fn decimal(text: &str) -> Option<f64> {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_whole = text.starts_with(|first: char| first.is_ascii_digit());
    if is_plain && is_whole {
        text.parse().ok()
    } else {
        None
    }
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(VERY_LONG)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn asked_by(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()));
        asked(&headers.collect(), now)
    }

    #[test]
    fn seconds_fractions_and_dates_are_read() {
        for (value, milliseconds) in [
            ("0", 0),
            (" 2 ", 2_000),
            ("1.5", 1_500),
            ("0.25", 250),
            ("120", 120_000),
            ("Sun, 06 Nov 1994 08:49:40 GMT", 3_000),
            ("Sunday, 06-Nov-94 08:49:40 GMT", 3_000),
            ("Sun, 06 Nov 1994 09:49:37 GMT", 3_600_000),
            ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
        ] {
            let expected = Some(Duration::from_millis(milliseconds));
            assert_eq!(asked_by(&[("retry-after", value)]), expected, "{value}");
        }
        let many_digits = "9".repeat(400);
        assert_eq!(asked_by(&[("retry-after", &many_digits)]), Some(VERY_LONG));
    }

    #[test]
    fn milliseconds_count_before_seconds() {
        let both = [("retry-after", "3"), ("retry-after-ms", "1250.5")];
        assert_eq!(asked_by(&both), Some(Duration::from_micros(1_250_500)));
        let unreadable = [("retry-after", "3"), ("retry-after-ms", "soon")];
        assert_eq!(asked_by(&unreadable), Some(Duration::from_secs(3)));
    }

    #[test]
    fn anything_else_asks_for_nothing() {
        for value in ["", "soon", "-1", "inf", "1e3", "1.2.3", ".5"] {
            assert_eq!(asked_by(&[("retry-after", value)]), None, "{value}");
        }
        assert_eq!(asked_by(&[]), None);
    }
}
