//! Parses the lengths of windows.

use chrono::TimeDelta;
use refract_service::measures::WatchAgainst;

/// The longest window.
const LONGEST: TimeDelta = TimeDelta::days(400);
const EXPECTED: &str = "expected whole hours, days or weeks, such as 24h, 7d or 4w, up to 400d";

/// Parses a time such as `24h`, `7d` or `4w`.
///
/// # Errors
/// Another form, zero, or more than 400 days.
pub(super) fn time(text: &str) -> Result<TimeDelta, String> {
    let hours = [("h", 1), ("d", 24), ("w", 7 * 24)];
    let read = hours.into_iter().find_map(|(unit, hours)| {
        let number: i64 = text.strip_suffix(unit)?.parse().ok()?;
        TimeDelta::try_hours(number.checked_mul(hours)?)
    });
    let is_valid = |time: &TimeDelta| *time > TimeDelta::zero() && *time <= LONGEST;
    read.filter(is_valid).ok_or_else(|| EXPECTED.to_owned())
}

/// Parses what a window is compared with: the time before it, or `marks`.
///
/// # Errors
/// Neither.
pub(super) fn against(text: &str) -> Result<WatchAgainst, String> {
    if text == "marks" {
        return Ok(WatchAgainst::Marks);
    }
    let before = time(text).map_err(|expected| format!("{expected}, or marks"))?;
    Ok(WatchAgainst::Before(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_and_a_bound() {
        assert_eq!(time("24h"), Ok(TimeDelta::days(1)));
        assert_eq!(time("7d"), Ok(TimeDelta::days(7)));
        assert_eq!(time("4w"), Ok(TimeDelta::days(28)));
        assert_eq!(time("400d"), Ok(LONGEST));
        for wrong in [
            "",
            "7",
            "h",
            "0h",
            "-1d",
            "1.5d",
            "401d",
            "7 d",
            "7m",
            "9999999999999999w",
        ] {
            assert_eq!(time(wrong), Err(EXPECTED.to_owned()), "{wrong}");
        }
        assert_eq!(against("marks"), Ok(WatchAgainst::Marks));
        assert!(against("mark").unwrap_err().ends_with("or marks"));
    }
}
