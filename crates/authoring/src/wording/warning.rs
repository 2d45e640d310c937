//! One warning about the wording of a prism.

use super::rule::WordingRule;

/// A finding of a rule, and its path in the prism file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WordingWarning {
    /// The rule that warns.
    pub rule: WordingRule,
    /// Keys and positions in the prism file, joined with dots, such as `questions.0.options.1`.
    pub path: String,
    /// The finding, with the labels or words in question; one sentence without a full stop.
    pub message: String,
}

impl WordingWarning {
    /// A warning of a rule about the value at a path.
    pub(super) fn new(rule: WordingRule, path: String, message: String) -> Self {
        Self {
            rule,
            path,
            message,
        }
    }
}
