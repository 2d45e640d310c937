//! Levels that are numbers, such as `5 stars`.

use super::words::words;

/// Words that may accompany a number and leave it an amount.
const UNITS: [&str; 11] = [
    "star", "stars", "point", "points", "percent", "%", "out", "of", "from", "and", "about",
];

/// The first number of a label that consists of a number and units, such as `4.5 of 5` or `80 %`;
/// `None` for every other label.
pub(super) fn first_number(label: &str) -> Option<f64> {
    let words = words(&label.replace(['-', '+'], " "));
    let has_other_words = words.iter().any(|word| {
        let number = word.trim_end_matches('%');
        !UNITS.contains(&word.as_str()) && !number.chars().all(|c| c.is_ascii_digit())
    });
    if has_other_words {
        return None;
    }
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let (start, _) = label.char_indices().find(|(_, c)| c.is_ascii_digit())?;
    let (before, rest) = label.split_at_checked(start)?;
    let digits: String = rest.chars().take_while(|c| is_number(*c)).collect();
    let number: f64 = digits.trim_end_matches('.').parse().ok()?;
    Some(if before.ends_with(['-', '−']) {
        -number
    } else {
        number
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_with_a_unit_counts() {
        for (label, number) in [
            ("5", 5.0),
            ("4.5 of 5", 4.5),
            ("80 %", 80.0),
            ("80%", 80.0),
            ("1 star", 1.0),
            ("3/5", 3.0),
            ("-2", -2.0),
            ("+2", 2.0),
            ("10-20", 10.0),
        ] {
            assert_eq!(first_number(label), Some(number), "{label}");
        }
        for label in [
            "P1",
            "Tier 2",
            "30 days",
            "",
            "stars",
            "half a star",
            "٣",
            "1.2.3",
        ] {
            assert_eq!(first_number(label), None, "{label}");
        }
    }
}
