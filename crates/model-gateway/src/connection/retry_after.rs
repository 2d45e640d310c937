//! How long a server asks to wait before the next request.
//!
//! Gateways hand on the header of the host behind them under a name of their own, such as
//! `llm_provider-retry-after`, or say only when the host's window of time ends.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::{HeaderMap, HeaderValue};

/// The header of some hosts with milliseconds, which is more exact than `Retry-After`.
const RETRY_AFTER_MS: &str = "retry-after-ms";
/// The headers with seconds or a date.
const RETRY_AFTER: [&str; 2] = ["retry-after", "retry-after-seconds"];
/// A part of the names of headers with the end of a window of time, all of whose requests or tokens
/// are used up if the header with `remaining` instead of `reset` is 0.
const WINDOW_END: &str = "ratelimit-reset";
/// The longest wait for the end of a window: most hosts have a place free before it.
const LONGEST_WINDOW: Duration = Duration::from_mins(1);
/// What a number with too many digits counts as: longer than any wait.
const VERY_LONG: Duration = Duration::from_secs(1_000_000_000);
/// Numbers from which on the end of a window is a time since 1970, in seconds and in milliseconds.
const EPOCH_SECONDS: f64 = 1e9;
const EPOCH_MILLISECONDS: f64 = 1e12;

/// The time that the headers of an answer name; `None` without a readable one.
pub(super) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let is_renamed = |name: &str, usual: &str| {
        let prefix = name.strip_suffix(usual);
        prefix.is_some_and(|prefix| prefix.ends_with(['-', '_']))
    };
    named(headers, now, |name, usual| name == usual)
        .or_else(|| named(headers, now, is_renamed))
        .or_else(|| window_end(headers, now))
}

/// The time under the first readable header that `is_named` accepts for one of the usual names.
fn named(
    headers: &HeaderMap,
    now: SystemTime,
    is_named: impl Fn(&str, &str) -> bool,
) -> Option<Duration> {
    let values = |usual: &'static str| {
        let headers = headers.iter();
        let named = headers.filter(|(name, _)| is_named(name.as_str(), usual));
        named.filter_map(|(_, value)| text(value))
    };
    let milliseconds = values(RETRY_AFTER_MS).find_map(decimal);
    milliseconds
        .map(|milliseconds| duration(milliseconds / 1_000.0))
        .or_else(|| {
            let mut values = RETRY_AFTER.into_iter().flat_map(values);
            values.find_map(|value| seconds_or_date(value, now))
        })
}

fn seconds_or_date(value: &str, now: SystemTime) -> Option<Duration> {
    if let Some(seconds) = decimal(value) {
        return Some(duration(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

/// The time until the end of the last window that is used up.
fn window_end(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let ends = headers.iter().filter_map(|(name, value)| {
        let name = name.as_str();
        if !name.contains(WINDOW_END) {
            return None;
        }
        let left = headers.get(name.replacen("reset", "remaining", 1))?;
        let is_used_up = decimal(text(left)?)? <= 0.0;
        is_used_up.then(|| until(text(value)?, now)).flatten()
    });
    Some(ends.max()?.min(LONGEST_WINDOW))
}

/// The time until the end of a window: seconds, a time since 1970, or a duration such as `2m59.5s`.
fn until(value: &str, now: SystemTime) -> Option<Duration> {
    let Some(number) = decimal(value) else {
        return spelled(value);
    };
    if number < EPOCH_SECONDS {
        return Some(duration(number));
    }
    let is_in_seconds = number < EPOCH_MILLISECONDS;
    let end = duration(if is_in_seconds {
        number
    } else {
        number / 1_000.0
    });
    let now = now.duration_since(UNIX_EPOCH).ok()?;
    Some(end.saturating_sub(now))
}

/// Reads a duration as Go writes it.
fn spelled(text: &str) -> Option<Duration> {
    let mut sum = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|char: char| char.is_ascii_alphabetic())?;
        let (number, after) = rest.split_at(digits);
        let end = after.find(|char: char| !char.is_ascii_alphabetic());
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        let seconds = match unit {
            "h" => 3_600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            _ => return None,
        };
        sum = sum.saturating_add(duration(decimal(number)? * seconds));
        rest = after;
    }
    (!text.is_empty()).then_some(sum)
}

fn text(value: &HeaderValue) -> Option<&str> {
    Some(value.to_str().ok()?.trim())
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
    fn a_gateways_name_for_the_hosts_header_counts_after_the_usual_one() {
        let renamed = ("llm_provider-retry-after", "7");
        assert_eq!(asked_by(&[renamed]), Some(Duration::from_secs(7)));
        let both = [renamed, ("retry-after", "3")];
        assert_eq!(asked_by(&both), Some(Duration::from_secs(3)));
        for (name, value) in [
            ("x-ms-retry-after-ms", "1500"),
            ("llm_provider-retry-after-ms", "1500"),
            ("x-upstream-retry-after", "1.5"),
            ("retry-after-seconds", "1.5"),
        ] {
            let expected = Some(Duration::from_millis(1_500));
            assert_eq!(asked_by(&[(name, value)]), expected, "{name}");
        }
        assert_eq!(asked_by(&[("noretry-after", "7")]), None);
    }

    #[test]
    fn the_end_of_a_used_up_window_is_waited_for_up_to_a_minute() {
        // 784111777 is the time of `asked_by`; years later, a time since 1970 has ten digits
        let now = UNIX_EPOCH + Duration::from_secs(1_784_111_777);
        for (value, milliseconds) in [
            ("42", Some(42_000)),
            ("1784111780", Some(3_000)),
            ("1784111780500", Some(3_500)),
            ("1784111000", Some(0)),
            ("1784999999", Some(60_000)),
            ("7.66s", Some(7_660)),
            ("12ms", Some(12)),
            ("2m59.56s", Some(60_000)),
            ("soon", None),
            ("5", Some(5_000)),
            ("5 s", None),
            ("", None),
        ] {
            for prefix in ["x-", "", "llm_provider-x-"] {
                let header = |part: &str, value: &str| {
                    let name = format!("{prefix}ratelimit-{part}");
                    (name.parse().unwrap(), HeaderValue::from_str(value).unwrap())
                };
                let window = |left| [header("reset", value), header("remaining", left)];
                let used_up: HeaderMap = window("0").into_iter().collect();
                let expected = milliseconds.map(Duration::from_millis);
                assert_eq!(asked(&used_up, now), expected, "{prefix} {value}");
                let open: HeaderMap = window("1").into_iter().collect();
                assert_eq!(asked(&open, now), None, "{prefix} {value}");
            }
        }
        let two = [
            ("x-ratelimit-reset-requests", "8.64s"),
            ("x-ratelimit-remaining-requests", "12"),
            ("x-ratelimit-reset-tokens", "1.5s"),
            ("x-ratelimit-remaining-tokens", "0"),
        ];
        assert_eq!(asked_by(&two), Some(Duration::from_millis(1_500)));
    }

    #[test]
    fn anything_else_asks_for_nothing() {
        for value in ["", "soon", "-1", "inf", "1e3", "1.2.3", ".5"] {
            assert_eq!(asked_by(&[("retry-after", value)]), None, "{value}");
        }
        assert_eq!(asked_by(&[]), None);
    }
}
