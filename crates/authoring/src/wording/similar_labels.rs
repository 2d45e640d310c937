//! The rule `similar-labels`: outcomes whose labels have the same words.
//!
//! Labels are similar when they differ only in number, articles, word order or one of a few
//! synonyms. Edit distance is not used: `Employer` and `Employee`, or `Approved` and `Unapproved`,
//! are one or two letters apart and mean different things.

use refract_domain::prism::question::Outcome;

use super::label::LabelWords;
use super::rule::WordingRule;
use super::warning::WordingWarning;
use crate::file_reader::join;

/// Warns of each outcome whose label is similar to an earlier one, unless both have a description;
/// `path` names the options or levels.
pub(super) fn check(outcomes: &[Outcome], path: &str) -> Vec<WordingWarning> {
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
pub(super) fn are_close(one: &LabelWords<'_>, other: &LabelWords<'_>) -> bool {
    let is_described = |label: &LabelWords<'_>| label.outcome.description.is_some();
    let is_same = one.outcome.label == other.outcome.label;
    let are_described = is_described(one) && is_described(other);
    let is_like = !one.has_digits && !other.has_digits && one.is_like(other);
    !are_described && (is_same || is_like)
}
