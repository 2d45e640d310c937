//! Rules about the labels of options and levels.
//!
//! Labels are similar when they differ only in number, articles, word order or one of a few
//! synonyms. Edit distance is not used: `Employer` and `Employee`, or `Approved` and `Unapproved`,
//! are one or two letters apart and mean different things.

use refract_domain::key::{INSUFFICIENT_INFORMATION, OTHER};
use refract_domain::prism::{Outcome, Question};

use super::rule::{WordingRule, WordingWarning};
use super::words::{LabelWords, compared, has_any, words};
use crate::file_reader::join;

/// The most outcomes of a choice, built-in ones included, with one letter each in the chat
/// protocol.
const MOST_LETTERS: usize = 20;

/// Warns of a choice with too many outcomes; `path` names the options.
pub(super) fn many_options(question: &Question, path: &str) -> Option<WordingWarning> {
    let outcomes = question.outcomes().count();
    let own = question.own_outcomes().len();
    let message = format!(
        "{outcomes} outcomes, {own} options and {} built-in ones, are more than {MOST_LETTERS}",
        outcomes - own
    );
    let warning = WordingWarning::new(WordingRule::ManyOptions, path.to_owned(), message);
    (outcomes > MOST_LETTERS).then_some(warning)
}

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
pub(super) fn built_in_labels(options: &[Outcome], path: &str) -> Vec<WordingWarning> {
    let found = options.iter().enumerate().filter_map(|(index, option)| {
        let rule = WordingRule::OverlappingLabels;
        Some(WordingWarning::new(
            rule,
            join(path, index),
            overlap_with_built_in(option)?,
        ))
    });
    found.collect()
}

fn overlap_with_built_in(option: &Outcome) -> Option<String> {
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

/// Warns of each outcome whose label is similar to an earlier one, unless both have a description;
/// `path` names the options or levels.
pub(super) fn similar_labels(outcomes: &[Outcome], path: &str) -> Vec<WordingWarning> {
    let labels: Vec<LabelWords<'_>> = outcomes.iter().map(LabelWords::of).collect();
    let mut warnings = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        let mut earlier = labels.iter().take(index);
        let Some(close) = earlier.find(|earlier| are_close(label, earlier)) else {
            continue;
        };
        let message = format!(
            "'{}' and '{}' are nearly the same words, and not both have a description",
            close.outcome.label, label.outcome.label
        );
        let path = join(path, index);
        warnings.push(WordingWarning::new(
            WordingRule::SimilarLabels,
            path,
            message,
        ));
    }
    warnings
}

/// Whether two labels are similar and no descriptions distinguish the outcomes.
fn are_close(one: &LabelWords<'_>, other: &LabelWords<'_>) -> bool {
    let is_described = |label: &LabelWords<'_>| label.outcome.description.is_some();
    let is_same = one.outcome.label == other.outcome.label;
    let are_described = is_described(one) && is_described(other);
    let is_like = !one.has_digits && !other.has_digits && one.is_like(other);
    !are_described && (is_same || is_like)
}

/// Words that make a longer label exclude the shorter one, or name something else: `Not delivered`
/// is not `Delivered`, and `New Mexico` is not `Mexico`.
const EXCLUDING: [&str; 43] = [
    "not",
    "no",
    "non",
    "never",
    "without",
    "very",
    "slightly",
    "somewhat",
    "rather",
    "fairly",
    "quite",
    "extremely",
    "highly",
    "strongly",
    "mostly",
    "partly",
    "partially",
    "mildly",
    "moderately",
    "after",
    "before",
    "self",
    "ex",
    "former",
    "over",
    "under",
    "full",
    "half",
    "part",
    "almost",
    "nearly",
    "new",
    "north",
    "south",
    "east",
    "west",
    "northern",
    "southern",
    "eastern",
    "western",
    "central",
    "equatorial",
    "upper",
];

/// Warns of each option whose label overlaps an earlier one, unless both have a description;
/// `path` names the options.
pub(super) fn overlapping_labels(options: &[Outcome], path: &str) -> Vec<WordingWarning> {
    let labels: Vec<OptionLabel<'_>> = options.iter().map(OptionLabel::of).collect();
    let mut warnings = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        let earlier = labels.iter().take(index);
        let mut found = earlier.filter_map(|earlier| overlap(earlier, label));
        if let Some(message) = found.next() {
            let rule = WordingRule::OverlappingLabels;
            warnings.push(WordingWarning::new(rule, join(path, index), message));
        }
    }
    warnings
}

/// The label of an option, whole and in parts.
struct OptionLabel<'a> {
    whole: LabelWords<'a>,
    /// The parts of a label such as `Billing and refunds`; empty when the label names one thing.
    parts: Vec<Vec<String>>,
    /// Whether words alone cannot decide what the label covers, because it has numbers or an
    /// excluding word.
    is_special: bool,
}

impl<'a> OptionLabel<'a> {
    fn of(option: &'a Outcome) -> Self {
        let whole = LabelWords::of(option);
        // a comma may also invert words, as in `Korea, South`
        let listed = option.label.replace('/', " and ");
        let words = compared(&listed);
        let parts = words.split(|word| word == "and" || word == "or");
        let mut parts: Vec<Vec<String>> = parts
            .filter(|part| !part.is_empty())
            .map(<[String]>::to_vec)
            .collect();
        // in `Lost or stolen card`, `lost` is not a thing by itself
        let length = parts.first().map_or(0, Vec::len);
        if parts.len() == 1 || parts.iter().any(|part| part.len() != length) {
            parts.clear();
        }
        let is_special = whole.has_digits || has_any(&whole.words, &["both", "only"]);
        Self {
            whole,
            parts,
            is_special,
        }
    }
}

/// Describes how the labels of two options overlap; `None` if they do not, or if a rule excludes
/// the pair.
fn overlap(one: &OptionLabel<'_>, other: &OptionLabel<'_>) -> Option<String> {
    let (first, second) = (&one.whole, &other.whole);
    let are_described = first.outcome.description.is_some() && second.outcome.description.is_some();
    if are_described || one.is_special || other.is_special || are_close(first, second) {
        return None;
    }
    for (longer, shorter) in [(first, second), (second, first)] {
        let mut beyond = longer.beyond(shorter);
        if longer.contains(shorter) && !beyond.any(|word| EXCLUDING.contains(&word)) {
            return Some(format!(
                "'{}' has every word of '{}', so both can be right for one text",
                longer.outcome.label, shorter.outcome.label
            ));
        }
    }
    let shared = one.parts.iter().find(|part| other.parts.contains(part))?;
    Some(format!(
        "'{}' and '{}' both name '{}', so both can be right for one text",
        first.outcome.label,
        second.outcome.label,
        shared.join(" ")
    ))
}

/// Warns of descriptions that add nothing; `path` names the options or levels.
pub(super) fn duplicate_descriptions(outcomes: &[Outcome], path: &str) -> Vec<WordingWarning> {
    let described: Vec<Option<Vec<String>>> = outcomes
        .iter()
        .map(|outcome| outcome.description.as_deref().map(words))
        .collect();
    let mut warnings = Vec::new();
    for (index, (outcome, description)) in outcomes.iter().zip(&described).enumerate() {
        let Some(description) = description.as_ref().filter(|words| !words.is_empty()) else {
            continue;
        };
        let mut earlier = outcomes.iter().zip(&described).take(index);
        let earlier = earlier.find(|(_, earlier)| earlier.as_ref() == Some(description));
        let message = if let Some((earlier, _)) = earlier {
            format!("'{}' is described as '{}' is", outcome.label, earlier.label)
        } else if *description == words(&outcome.label) {
            format!(
                "the description of '{}' only repeats the label",
                outcome.label
            )
        } else {
            continue;
        };
        let rule = WordingRule::DuplicateDescriptions;
        let path = join(&join(path, index), "description");
        warnings.push(WordingWarning::new(rule, path, message));
    }
    warnings
}
