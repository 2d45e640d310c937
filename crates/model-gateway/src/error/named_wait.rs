//! The wait that a refusal names in its message instead of a header, such as Google's
//! `Please retry in 36.5s` and Groq's `Please try again in 7m12s`.

use std::time::Duration;

/// Phrases before a wait.
const PHRASES: [&str; 4] = ["try again in ", "retry in ", "retry after ", "retrydelay "];
/// Units and their length in seconds; the first that the text begins with counts.
const UNITS: [(&str, f64); 5] = [
    ("ms", 0.001),
    ("milli", 0.001),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3_600.0),
];

/// The wait that a message in lower case names.
pub(super) fn named_wait(message: &str) -> Option<Duration> {
    let rest = PHRASES.iter().find_map(|phrase| {
        let (_, rest) = message.split_once(phrase)?;
        rest.starts_with(|first: char| first.is_ascii_digit())
            .then_some(rest)
    })?;
    let seconds = seconds(rest)?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Sums numbers with units at the beginning of a text; `None` if there are none.
fn seconds(mut text: &str) -> Option<f64> {
    let mut sum = None;
    loop {
        let behind = text.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
        let number = text.strip_suffix(behind)?.trim_end_matches('.');
        let unit = behind.trim_start();
        let known = UNITS.iter().find(|(name, _)| unit.starts_with(name));
        let (Ok(number), Some((_, length))) = (number.parse::<f64>(), known) else {
            return sum;
        };
        sum = Some(sum.unwrap_or(0.0) + number * length);
        text = unit.trim_start_matches(|char: char| char.is_ascii_alphabetic());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_in_the_words_of_hosts() {
        for (message, milliseconds) in [
            ("please retry in 36.5s.", Some(36_500)),
            (
                "please try again in 7m12.5s. need more tokens?",
                Some(432_500),
            ),
            ("please try again in 20s", Some(20_000)),
            ("try again in 250ms", Some(250)),
            ("please retry after 6 seconds.", Some(6_000)),
            ("retry after 2 minutes", Some(120_000)),
            ("try again in 5h3m", Some(18_180_000)),
            ("retrydelay 36s", Some(36_000)),
            ("please try again in a moment", None),
            ("retry after 6", None),
            ("slow down", None),
        ] {
            let expected = milliseconds.map(Duration::from_millis);
            assert_eq!(named_wait(message), expected, "{message}");
        }
    }
}
