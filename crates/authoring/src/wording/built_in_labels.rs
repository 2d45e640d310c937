//! The rule `overlapping-labels` between an option and the built-in outcomes, which every choice
//! has: `other` and `insufficient_information`.

use refract_domain::key::{INSUFFICIENT_INFORMATION, OTHER};
use refract_domain::prism::question::Outcome;

use super::label::compared;
use super::rule::WordingRule;
use super::warning::WordingWarning;
use crate::file_reader::join;

/// Labels that mean the same as the built-in `other`.
const SAY_OTHER: [&str; 13] = [
    "other",
    "others",
    "any other",
    "all other",
    "something else",
    "anything else",
    "everything else",
    "none of the above",
    "none of these",
    "none of them",
    "other, please specify",
    "misc",
    "miscellaneous",
];

/// Labels that mean the same as the built-in `insufficient_information`.
const SAY_INSUFFICIENT: [&str; 15] = [
    "not enough information",
    "insufficient information",
    "not enough context",
    "cannot tell",
    "can't tell",
    "cannot say",
    "can't say",
    "cannot be determined",
    "don't know",
    "do not know",
    "not stated",
    "not specified",
    "not mentioned",
    "unspecified",
    "undetermined",
];

/// Labels that may mean a built-in outcome: they warn only without a description.
const UNCLEAR: [&str; 6] = [
    "none",
    "unknown",
    "unclear",
    "unsure",
    "not sure",
    "not clear",
];

/// The number of words in the longest of these labels.
const MOST_WORDS: usize = 4;

/// Warns of options that overlap a built-in outcome; `path` names the options.
pub(super) fn check(options: &[Outcome], path: &str) -> Vec<WordingWarning> {
    let found = options.iter().enumerate().filter_map(|(index, option)| {
        let rule = WordingRule::OverlappingLabels;
        Some(WordingWarning::new(
            rule,
            join(path, index),
            overlap(option)?,
        ))
    });
    found.collect()
}

fn overlap(option: &Outcome) -> Option<String> {
    let words = compared(&option.label);
    let is_label = |label: &&str| compared(label) == words;
    let is_any = |labels: &[&str]| words.len() <= MOST_WORDS && labels.iter().any(is_label);
    let label = &option.label;
    let repeats = |key: &str| {
        format!("'{label}' says what the built-in outcome `{key}` says, which every choice has")
    };
    if is_any(&SAY_OTHER) {
        return Some(repeats(OTHER));
    }
    if is_any(&SAY_INSUFFICIENT) {
        return Some(repeats(INSUFFICIENT_INFORMATION));
    }
    if option.description.is_some() {
        return None;
    }
    let begins_with_other = words.first().is_some_and(|first| first == "other");
    (begins_with_other || is_any(&UNCLEAR)).then(|| {
        format!(
            "no description tells '{label}' from the built-in outcomes `{OTHER}` and \
             `{INSUFFICIENT_INFORMATION}`, which every choice has"
        )
    })
}
