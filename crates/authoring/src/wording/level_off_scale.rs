//! The rule `level-off-scale`: levels that are not a degree of anything, such as `Not applicable`.

use refract_domain::prism::question::Outcome;

use super::label::compared;
use super::rule::WordingRule;
use super::warning::WordingWarning;
use crate::file_reader::join;

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
pub(super) fn check(levels: &[Outcome], path: &str) -> Vec<WordingWarning> {
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
