//! The rule `descending-scale`: levels that are listed highest first.

use refract_domain::prism::question::{Outcome, Question};

use super::label::has_any;
use super::numbers::first_number;
use super::rank_words::ORDERS;
use super::rule::WordingRule;
use super::warning::WordingWarning;
use super::words::words;

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
pub(super) fn check(question: &Question, levels: &[Outcome], path: &str) -> Option<WordingWarning> {
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
