//! Warnings about the wording of a prism: wording that is known to make answers worse, found before
//! the first text is sent.
//!
//! The rules compare words, not meaning. They are tuned for few false positives: a prism without
//! warnings can still be badly worded. Rules about the words of questions and levels know English
//! only and skip other languages. A warning refuses nothing; [`PrismFile`] decides what is valid.
//!
//! [`PrismFile`]: crate::prism_file::PrismFile

mod labels;
mod questions;
mod rank_words;
mod rule;
mod scales;
mod words;

pub use self::rule::{WordingRule, WordingWarning};

use refract_domain::prism::{PrismVersion, Question, QuestionKind};

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
    warnings.extend(questions::two_questions(question, &text_path));
    match &question.kind {
        QuestionKind::YesNo => {
            warnings.extend(questions::negated_question(question, &text_path));
        }
        QuestionKind::Choice { options } => {
            let path = join(path, "options");
            warnings.extend(labels::many_options(question, &path));
            warnings.extend(labels::built_in_labels(options, &path));
            warnings.extend(labels::similar_labels(options, &path));
            warnings.extend(labels::overlapping_labels(options, &path));
            warnings.extend(labels::duplicate_descriptions(options, &path));
        }
        QuestionKind::Scale { levels } => {
            let path = join(path, "levels");
            warnings.extend(scales::descending_scale(question, levels, &path));
            warnings.extend(scales::level_off_scale(levels, &path));
            warnings.extend(labels::similar_labels(levels, &path));
            warnings.extend(labels::duplicate_descriptions(levels, &path));
        }
    }
    warnings
}

#[cfg(test)]
mod tests;
