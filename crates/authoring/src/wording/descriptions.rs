//! The rule `duplicate-descriptions`: a description that repeats another one or its own label.

use refract_domain::prism::question::Outcome;

use super::rule::WordingRule;
use super::warning::WordingWarning;
use super::words::words;
use crate::file_reader::join;

/// Warns of descriptions that add nothing; `path` names the options or levels.
pub(super) fn check(outcomes: &[Outcome], path: &str) -> Vec<WordingWarning> {
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
