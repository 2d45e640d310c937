//! The rule `many-options`: more outcomes than the chat protocol has single letters.

use refract_domain::prism::question::Question;

use super::rule::WordingRule;
use super::warning::WordingWarning;

/// The most outcomes of a choice, built-in ones included, with one letter each in the chat
/// protocol.
const MOST_LETTERS: usize = 20;

/// Warns of a choice with too many outcomes; `path` names the options.
pub(super) fn check(question: &Question, path: &str) -> Option<WordingWarning> {
    let outcomes = question.outcomes().count();
    let own = question.own_outcomes().len();
    let message = format!(
        "{outcomes} outcomes, {own} options and {} built-in ones, are more than {MOST_LETTERS}",
        outcomes - own
    );
    let warning = WordingWarning::new(WordingRule::ManyOptions, path.to_owned(), message);
    (outcomes > MOST_LETTERS).then_some(warning)
}
