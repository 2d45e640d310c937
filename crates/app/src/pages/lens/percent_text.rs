//! Converts cutoffs between percent, as people type them, and the range 0 to 1 of lens files. The
//! decimal point moves in the text, so that no digit is lost.

/// Converts percent to the range 0 to 1; `None` if the text is not a plain decimal number.
pub(super) fn to_share(percent: &str) -> Option<String> {
    let (whole, decimals) = percent.split_once('.').unwrap_or((percent, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 3 || !digits(whole) || !digits(decimals) {
        return None;
    }
    let padded = format!("{whole:0>3}");
    let (ones, hundredths) = padded.split_at_checked(padded.len() - 2)?;
    Some(format!("{ones}.{hundredths}{decimals}"))
}

/// Converts a number from 0 to 1 to percent.
pub(super) fn to_percent(share: f64) -> String {
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
    fn the_point_moves_and_no_digit_is_lost() {
        for (percent, share) in [
            ("40", "0.40"),
            ("5", "0.05"),
            ("100", "1.00"),
            ("45.7", "0.457"),
            ("0.01", "0.0001"),
        ] {
            assert_eq!(to_share(percent).as_deref(), Some(share));
            assert_eq!(to_percent(share.parse().unwrap()), percent);
        }
        for other in ["", "x", "-1", "1e2", "4 0", "1000", ".5", "40,5"] {
            assert_eq!(to_share(other), None, "{other}");
        }
    }

    #[test]
    fn every_cutoff_of_six_decimals_comes_back() {
        for millionths in (1..1_000_000).step_by(997) {
            let share = f64::from(millionths) / 1e6;
            let back: f64 = to_share(&to_percent(share)).unwrap().parse().unwrap();
            assert!((back - share).abs() < f64::EPSILON, "{share}");
        }
    }
}
