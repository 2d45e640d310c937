//! Numbers in readable form.

use refract_domain::answer::probability::Probability;

/// Millionths in a tenth of a percent.
const TENTH: u32 = 1000;

/// A probability in percent with one decimal, without the percent sign: `37.2`.
pub(crate) fn percent(probability: Probability) -> String {
    let tenths = (probability.millionths() + TENTH / 2) / TENTH;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A count with thousands separators: `12,480`.
pub(crate) fn count(count: impl TryInto<u64>) -> String {
    let digits = count.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share in percent with one decimal, without the percent sign: `0.4`. `None` if `whole` is 0.
pub(crate) fn share(part: u64, whole: u64) -> Option<String> {
    if whole == 0 {
        return None;
    }
    let tenths = (u128::from(part) * 2000 / u128::from(whole)).div_ceil(2);
    Some(format!("{}.{}", tenths / 10, tenths % 10))
}

/// A measured share in percent, without the percent sign: the three decimals that the terminal
/// prints (`0.863`), with the point moved (`86.3`). A dash if undefined.
pub(crate) fn measured_percent(share: Option<f64>) -> String {
    let Some(share) = share else {
        return "–".to_owned();
    };
    let decimals = format!("{share:.3}").replace('.', "");
    let (whole, tenth) = decimals.split_at(decimals.len().saturating_sub(1));
    let whole = whole.trim_start_matches('0');
    format!("{}.{tenth}", if whole.is_empty() { "0" } else { whole })
}

/// A number with its noun: `1 result`, `2 results`.
pub(crate) fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// Converts a number from 0 to 1 to percent, without losing a digit: `62.5`.
pub(crate) fn to_percent(share: f64) -> String {
    let written = share.to_string();
    let (ones, decimals) = written.split_once('.').unwrap_or((&written, ""));
    let padded = format!("{decimals:0<2}");
    let (hundredths, rest) = padded.split_at_checked(2).unwrap_or((&padded, ""));
    let whole = format!("{ones}{hundredths}");
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if rest.is_empty() {
        whole.to_owned()
    } else {
        format!("{whole}.{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        let percent_of = |millionths| percent(Probability::from_millionths(millionths).unwrap());
        assert_eq!(percent_of(0), "0.0");
        assert_eq!(percent_of(372_499), "37.2");
        assert_eq!(percent_of(372_500), "37.3");
        assert_eq!(percent_of(1_000_000), "100.0");
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(share(1, 3).unwrap(), "33.3");
        assert_eq!(share(2, 3).unwrap(), "66.7");
        assert_eq!(share(5, 5).unwrap(), "100.0");
        assert_eq!(share(0, 0), None);
        assert_eq!(measured_percent(Some(0.863_49)), "86.3");
        assert_eq!(measured_percent(Some(0.0)), "0.0");
        assert_eq!(measured_percent(Some(0.004)), "0.4");
        assert_eq!(measured_percent(Some(1.0)), "100.0");
        assert_eq!(measured_percent(None), "–");
        assert_eq!(counted(1, "result"), "1 result");
        assert_eq!(counted(2_000, "result"), "2,000 results");
    }
}
