//! Rules about the levels of a scale: those that are listed highest first, and levels that are not a
//! degree of anything, such as `Not applicable`.

use refract_domain::prism::{Outcome, Question};

use super::rank_words::ORDERS;
use super::rule::{WordingRule, WordingWarning};
use super::words::{compared, has_any, words};
use crate::file_reader::join;

/// Adverbs of degree that begin levels, such as those of `How angry is the writer?`.
const DEGREES: [(&str, u8); 14] = [
    ("not at all", 0),
    ("not", 0),
    ("barely", 1),
    ("slightly", 1),
    ("mildly", 1),
    ("a little", 1),
    ("a bit", 1),
    ("somewhat", 2),
    ("moderately", 2),
    ("fairly", 3),
    ("quite", 3),
    ("very", 4),
    ("highly", 4),
    ("extremely", 5),
];

/// Words in a question that make lower numbers mean more: priority 1 comes before priority 3.
const LOW_NUMBERS_FIRST: [&str; 14] = [
    "priority",
    "prioritised",
    "prioritized",
    "rank",
    "ranked",
    "place",
    "position",
    "grade",
    "tier",
    "class",
    "urgent",
    "urgency",
    "severity",
    "soon",
];

/// Warns of a scale whose levels descend; `path` names the levels.
pub(super) fn descending_scale(
    question: &Question,
    levels: &[Outcome],
    path: &str,
) -> Option<WordingWarning> {
    let asked = words(&question.text);
    let labels: Vec<Vec<String>> = levels.iter().map(|level| words(&level.label)).collect();
    let is_falling = ORDERS
        .iter()
        .any(|order| are_falling(&order.ranks(&asked, &labels)))
        || are_falling(&degrees(&asked, &labels))
        || are_falling(&numbers(&asked, levels));
    let (first, last) = (levels.first()?, levels.last()?);
    let message = format!(
        "the levels seem to be listed highest first, from '{}' down to '{}'",
        first.label, last.label
    );
    let rule = WordingRule::DescendingScale;
    is_falling.then(|| WordingWarning::new(rule, path.to_owned(), message))
}

/// Whether the first and the last level have ranks, and every rank is lower than the one before.
fn are_falling<R: PartialOrd + Copy>(ranks: &[Option<R>]) -> bool {
    let known: Vec<R> = ranks.iter().flatten().copied().collect();
    let has_ends =
        ranks.first().is_some_and(Option::is_some) && ranks.last().is_some_and(Option::is_some);
    has_ends
        && known.len() > 1
        && known
            .iter()
            .zip(known.iter().skip(1))
            .all(|(one, next)| next < one)
}

/// The ranks of levels such as `Very angry`, if the question asks about the quality (`angry`).
fn degrees(question: &[String], levels: &[Vec<String>]) -> Vec<Option<u8>> {
    let degree = |level: &Vec<String>| {
        let parts = DEGREES.iter().map(|(phrase, rank)| (words(phrase), *rank));
        let matching = parts.filter(|(phrase, _)| level.starts_with(phrase));
        let (phrase, rank) = matching.max_by_key(|(phrase, _)| phrase.len())?;
        let mut of_what = level.iter().skip(phrase.len());
        of_what.all(|word| question.contains(word)).then_some(rank)
    };
    levels.iter().map(degree).collect()
}

/// The values of levels whose labels are numbers. Empty when a label is not a number, or when a
/// lower number means more.
fn numbers(question: &[String], levels: &[Outcome]) -> Vec<Option<f64>> {
    if has_any(question, &LOW_NUMBERS_FIRST) {
        return Vec::new();
    }
    let numbers = levels
        .iter()
        .map(|level| first_number(&level.label).map(Some));
    numbers.collect::<Option<_>>().unwrap_or_default()
}

/// Labels that belong on no scale. `Unclear` or `Not mentioned` can be the lowest level of a scale
/// of clearness or of attention, and are not listed.
const OFF_SCALE: [&str; 10] = [
    "not applicable",
    "n/a",
    "don't know",
    "do not know",
    "cannot tell",
    "can't tell",
    "cannot say",
    "can't say",
    "other",
    "none of the above",
];

/// Labels that belong on a scale only as the lowest level.
const LOWEST_OR_OFF_SCALE: [&str; 4] = [
    "unknown",
    "no answer",
    "not enough information",
    "insufficient information",
];

/// Warns of levels that are off the scale; `path` names the levels.
pub(super) fn level_off_scale(levels: &[Outcome], path: &str) -> Vec<WordingWarning> {
    let off_scale = levels.iter().enumerate().filter(|(index, level)| {
        let words = compared(&level.label);
        let is = |label: &str| compared(label) == words;
        OFF_SCALE.into_iter().any(is) || (*index > 0 && LOWEST_OR_OFF_SCALE.into_iter().any(is))
    });
    let warnings = off_scale.map(|(index, level)| {
        let message = format!(
            "'{}' is neither more nor less than the other levels",
            level.label
        );
        WordingWarning::new(WordingRule::LevelOffScale, join(path, index), message)
    });
    warnings.collect()
}

/// Words that may accompany a number and leave it an amount.
const UNITS: [&str; 11] = [
    "star", "stars", "point", "points", "percent", "%", "out", "of", "from", "and", "about",
];

/// The first number of a label that consists of a number and units, such as `4.5 of 5` or `80 %`;
/// `None` for every other label.
fn first_number(label: &str) -> Option<f64> {
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
