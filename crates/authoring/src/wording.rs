//! Warnings about the wording of a prism: wording that is known to make answers worse, found before
//! the first text is sent.
//!
//! The rules compare words, not meaning. They are tuned for few false positives: a prism without
//! warnings can still be badly worded. Rules about the words of questions and levels know English
//! only and skip other languages. A warning refuses nothing; [`PrismFile`] decides what is valid.
//!
//! [`PrismFile`]: crate::prism_file::PrismFile

mod built_in_labels;
mod descending_scale;
mod descriptions;
mod english;
mod label;
mod level_off_scale;
mod many_options;
mod negated_question;
mod numbers;
mod overlapping_labels;
mod rank_words;
mod rule;
mod sentence;
mod similar_labels;
mod two_questions;
mod warning;
mod words;

pub use self::rule::WordingRule;
pub use self::warning::WordingWarning;

use refract_domain::prism::PrismVersion;
use refract_domain::prism::question::{Question, QuestionKind};

use crate::file_reader::join;

/// The warnings of all rules, question by question in the order of the file: first those about a
/// question's text, then those about its options or levels, rule by rule.
pub fn lint(version: &PrismVersion) -> Vec<WordingWarning> {
    lint_questions(version, |_| true)
}

/// The warnings about the questions whose position `is_looked_at` accepts. The run time grows with
/// the square of a question's options.
pub fn lint_questions(
    version: &PrismVersion,
    is_looked_at: impl Fn(usize) -> bool,
) -> Vec<WordingWarning> {
    let questions = version.questions().iter().enumerate();
    questions
        .filter(|(index, _)| is_looked_at(*index))
        .flat_map(|(index, question)| lint_question(question, &join("questions", index)))
        .collect()
}

/// The warnings of a question at a path such as `questions.0`.
fn lint_question(question: &Question, path: &str) -> Vec<WordingWarning> {
    let text_path = join(path, "text");
    let mut warnings = Vec::new();
    warnings.extend(two_questions::check(question, &text_path));
    match &question.kind {
        QuestionKind::YesNo => {
            warnings.extend(negated_question::check(question, &text_path));
        }
        QuestionKind::Choice { options } => {
            let path = join(path, "options");
            warnings.extend(many_options::check(question, &path));
            warnings.extend(built_in_labels::check(options, &path));
            warnings.extend(similar_labels::check(options, &path));
            warnings.extend(overlapping_labels::check(options, &path));
            warnings.extend(descriptions::check(options, &path));
        }
        QuestionKind::Scale { levels } => {
            let path = join(path, "levels");
            warnings.extend(descending_scale::check(question, levels, &path));
            warnings.extend(level_off_scale::check(levels, &path));
            warnings.extend(similar_labels::check(levels, &path));
            warnings.extend(descriptions::check(levels, &path));
        }
    }
    warnings
}

#[cfg(test)]
mod tests;
