//! Example texts of a prism as a gold file, read and written.

use std::collections::HashMap;

use refract_domain::prism::PrismVersion;
use refract_domain::prism::example::{EXAMPLE_TEXTS, ExpectedOutcomes};
use refract_domain::result::mark::outcomes;
use refract_service::prisms::{CheckedExample, ExampleInput};

use super::cells::ExpectedOutcome;
use super::file::{GoldFile, GoldProblem, GoldText};

/// The most outcomes of a question in a problem.
const MOST_OUTCOMES: usize = 20;

/// What is wrong with a file of examples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleFileProblem {
    /// The row's line; `None` for the whole file.
    pub line: Option<u64>,
    /// What is wrong.
    pub words: String,
}

impl GoldFile {
    /// The rows as examples of a prism.
    ///
    /// # Errors
    /// Everything that is wrong with the file, in its order.
    pub fn examples(
        self,
        version: &PrismVersion,
    ) -> Result<Vec<ExampleInput>, Vec<ExampleFileProblem>> {
        let mut problems = self.whole_problems(version);
        let of_rows = self.problems.iter();
        problems.extend(of_rows.map(|problem| ExampleFileProblem {
            line: Some(problem.line()),
            words: describe(problem, version),
        }));
        let mut lines = HashMap::new();
        let mut inputs = Vec::with_capacity(self.texts.len());
        for (line, text) in self.texts {
            let expected = text.expected.into_iter();
            let expected = expected.map(|one| (one.question, one.outcome)).collect();
            let input = ExampleInput {
                submission: text.submission,
                reference: text.reference,
                expected: ExpectedOutcomes(expected),
                note: None,
            };
            if let Some(earlier) = lines.insert(input.text_key(), line) {
                problems.push(ExampleFileProblem {
                    line: Some(line),
                    words: format!("it has the text of line {earlier}"),
                });
            } else {
                inputs.push(input);
            }
        }
        if problems.is_empty() {
            return Ok(inputs);
        }
        problems.sort_by_key(|problem| problem.line);
        Err(problems)
    }

    /// What is wrong with the file as a whole.
    fn whole_problems(&self, version: &PrismVersion) -> Vec<ExampleFileProblem> {
        let keys = version.questions().iter();
        let keys: Vec<_> = keys.map(|question| question.key.as_str()).collect();
        let unknown = self.unknown_columns.iter().map(|column| {
            format!(
                "the column {column} is of no question: there are {}",
                keys.join(", ")
            )
        });
        let mut problems: Vec<String> = unknown.collect();
        let rows = self.texts.len() + self.problems.len();
        if rows > EXAMPLE_TEXTS {
            problems.push(format!(
                "it has {rows} rows, at most {EXAMPLE_TEXTS} examples can be kept"
            ));
        }
        let is_sound = problems.is_empty() && self.problems.is_empty();
        if is_sound && self.texts.iter().all(|(_, text)| text.expected.is_empty()) {
            let column = keys.first().copied().unwrap_or_default();
            problems.push(format!(
                "no row has a right answer: add a column such as expected_{column}"
            ));
        }
        let whole = |words| ExampleFileProblem { line: None, words };
        problems.into_iter().map(whole).collect()
    }
}

impl GoldText {
    /// The examples of a prism as texts of a gold file. An example that lacks a field of the version is
    /// left out: the file would give it an empty value.
    pub fn of_examples(examples: &[CheckedExample], version: &PrismVersion) -> Vec<Self> {
        let texts = examples.iter().filter_map(|one| {
            let submission = one.example.submission.for_fields(version.fields())?;
            let expected = one.expected(version, &[]).map(|one| ExpectedOutcome {
                question: one.question.key.clone(),
                outcome: one.expected.clone(),
            });
            Some(Self {
                submission,
                reference: one.example.reference.clone(),
                expected: expected.collect(),
            })
        });
        texts.collect()
    }
}

fn describe(problem: &GoldProblem, version: &PrismVersion) -> String {
    match problem {
        GoldProblem::Refused { reason, .. } => reason.clone(),
        GoldProblem::NoOutcome { question, .. } => {
            let found = version.question(question);
            let keys = found.into_iter().flat_map(outcomes).map(|one| one.key);
            let mut keys: Vec<_> = keys.take(MOST_OUTCOMES + 1).collect();
            if keys.len() > MOST_OUTCOMES {
                keys.truncate(MOST_OUTCOMES);
                keys.push("…");
            }
            format!(
                "the right answer to {question} is none of its outcomes: {}",
                keys.join(", ")
            )
        }
    }
}
