//! How long a server asks to wait before the next request, in a header or in its message.
//!
//! Gateways hand on the header of the host behind them under a name of their own, such as
//! `llm_provider-retry-after`, or say only when the host's window of time ends. Messages name a wait such
//! as Google's `Please retry in 36.5s` and Groq's `Please try again in 7m12s`.

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
/// Phrases before a wait.
const PHRASES: [&str; 4] = ["try again in ", "retry in ", "retry after ", "retrydelay "];
/// Units of Go and their length in seconds.
const UNITS: [(&str, f64); 4] = [("h", 3_600.0), ("m", 60.0), ("s", 1.0), ("ms", 0.001)];
/// Beginnings of units in messages and their length in seconds; the first that a unit begins with
/// counts.
const UNIT_WORDS: [(&str, f64); 5] = [
    ("ms", 0.001),
    ("milli", 0.001),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3_600.0),
];

/// The time that the headers of an answer name; `None` without a readable one.
pub(crate) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
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

/// Reads a duration as Go writes it, and nothing after it.
fn spelled(text: &str) -> Option<Duration> {
    let length = |unit: &str| {
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        known.map(|(_, seconds)| *seconds)
    };
    let is_without_space = !text.contains(|char: char| char.is_ascii_whitespace());
    let (seconds, rest) = leading_duration(text, length);
    let is_whole = is_without_space && rest.is_empty();
    seconds.filter(|_| is_whole).map(duration)
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

/// The wait that a message in lower case names.
pub(super) fn named_wait(message: &str) -> Option<Duration> {
    let rest = PHRASES.iter().find_map(|phrase| {
        let (_, rest) = message.split_once(phrase)?;
        rest.starts_with(|first: char| first.is_ascii_digit())
            .then_some(rest)
    })?;
    let length = |unit: &str| {
        let known = UNIT_WORDS.iter().find(|(name, _)| unit.starts_with(name));
        known.map(|(_, seconds)| *seconds)
    };
    let (seconds, _) = leading_duration(rest, length);
    Duration::try_from_secs_f64(seconds?).ok()
}

/// Sums numbers with units at the beginning of a text, such as `2m59s`, in seconds; `None` if there
/// are none. Returns the rest of the text too. `length` is that of a unit in seconds.
fn leading_duration(mut text: &str, length: impl Fn(&str) -> Option<f64>) -> (Option<f64>, &str) {
    let mut sum = None;
    loop {
        let behind = text.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
        let number = text.strip_suffix(behind).unwrap_or_default();
        let unit = behind.trim_start();
        let after = unit.trim_start_matches(|char: char| char.is_ascii_alphabetic());
        let unit = unit.strip_suffix(after).unwrap_or_default();
        let (Some(number), Some(length)) = (decimal(number), length(unit)) else {
            return (sum, text);
        };
        sum = Some(sum.unwrap_or(0.0) + number * length);
        text = after;
    }
}

#[cfg(test)]
mod tests;
