//! A gold file as a list of texts: read whole by the rules of a run, and written so that reading it
//! gives the same texts; and example texts of a prism as such a file.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use refract_domain::key::QuestionKey;
use refract_domain::prism::{EXAMPLE_TEXTS, ExpectedOutcomes, PrismVersion};
use refract_domain::result::mark::outcomes;
use refract_domain::submission::{Ref, Submission};
use refract_service::prisms::{CheckedExample, ExampleInput};
use serde::Serializer as _;

use crate::file_run::OpenRunError;
use crate::gold::cells::{EXPECTED, ExpectedOutcome};
use crate::input::{CONTEXT, InputColumns, InputFile, InputRows, InputSource, REF};
use crate::run::Shard;

/// The most outcomes of a question in a problem.
const MOST_OUTCOMES: usize = 20;

/// The texts of a gold file, or what is wrong with it.
#[derive(Debug, Default)]
pub struct GoldFile {
    /// The texts, each with the line on which its row begins.
    pub texts: Vec<(u64, GoldText)>,
    /// What is wrong with rows.
    pub problems: Vec<GoldProblem>,
    /// Names of `expected_…` columns without a question of that key in the version.
    pub unknown_columns: Vec<String>,
}

/// A text with its correct answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldText {
    /// The values of the version's fields, and the context.
    pub submission: Submission,
    /// The text's `ref`.
    pub reference: Option<Ref>,
    /// The correct outcomes, in the order of the version's questions.
    pub expected: Vec<ExpectedOutcome>,
}

/// Why a row of a gold file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoldProblem {
    /// The row breaks the rules of a call; the reason repeats none of its values.
    Refused {
        /// The line on which the row begins.
        line: u64,
        /// Why.
        reason: String,
    },
    /// The expected answer of a question names no outcome of the question.
    NoOutcome {
        /// The line on which the row begins.
        line: u64,
        /// The question.
        question: QuestionKey,
    },
}

/// The form of a written gold file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoldFormat {
    /// Commas between cells.
    Csv,
    /// One JSON object per line.
    JsonLines,
}

impl GoldFile {
    /// Reads a whole gold file for a version. Blocks the thread.
    ///
    /// # Errors
    /// When the file cannot be read, or columns of fields are missing.
    pub fn read(
        source: InputSource<'_>,
        version: &Arc<PrismVersion>,
    ) -> Result<Self, OpenRunError> {
        let columns = InputColumns::new(version, version.questions(), &[])?;
        let input = Arc::new(InputFile::open(source, columns.wanted())?);
        let mut rows = InputRows::begin(&input, &columns, version, Shard::WHOLE)?;
        let mut file = Self::default();
        while let Some(row) = rows.next()? {
            let line = row.line;
            let wrong = row.gold.wrong.into_iter();
            let wrong = wrong.map(|question| GoldProblem::NoOutcome { line, question });
            file.problems.extend(wrong);
            match row.content {
                Err(reason) => file.problems.push(GoldProblem::Refused { line, reason }),
                Ok(content) => {
                    let text = GoldText {
                        submission: content.submission,
                        reference: content.reference,
                        expected: row.gold.expected,
                    };
                    file.texts.push((line, text));
                }
            }
        }
        rows.check_columns()?;
        let unused = rows.unused_columns().into_iter();
        file.unknown_columns = unused.filter(|name| name.starts_with(EXPECTED)).collect();
        Ok(file)
    }

    /// Writes texts of a version as a gold file. It has every character as it is: where a cell begins
    /// like a formula, which a spreadsheet would calculate, the file is JSON Lines and not CSV.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write(
        version: &PrismVersion,
        texts: &[GoldText],
        out: &mut impl io::Write,
    ) -> io::Result<GoldFormat> {
        let has_formula = texts.iter().any(|text| {
            let reference = text.reference.iter().map(Ref::as_str);
            let values = text.submission.fields().iter();
            let mut cells = values
                .map(|(_, value)| value.as_str())
                .chain(text.submission.context())
                .chain(reference);
            cells.any(|cell| cell.starts_with(['=', '+', '-', '@', '\t', '\r']))
        });
        if has_formula {
            write_json_lines(texts, out)?;
            return Ok(GoldFormat::JsonLines);
        }
        write_csv(version, texts, out)?;
        Ok(GoldFormat::Csv)
    }
}

fn write_csv(
    version: &PrismVersion,
    texts: &[GoldText],
    out: &mut impl io::Write,
) -> io::Result<()> {
    let mut csv = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    let fields = version.fields().iter().map(|field| field.key.to_string());
    let questions = version.questions().iter();
    let expected = questions.map(|question| format!("{EXPECTED}{}", question.key));
    let others = [REF, CONTEXT].map(str::to_owned);
    let header = fields.chain(others).chain(expected);
    csv.write_record(header)?;
    for text in texts {
        let values = text.submission.fields().iter();
        let reference = text.reference.as_ref().map_or("", Ref::as_str);
        let context = text.submission.context().unwrap_or_default();
        let expected = version.questions().iter().map(|question| {
            let expected = text.expected.iter();
            let found = expected.clone().find(|one| one.question == question.key);
            found.map_or("", |one| one.outcome.as_str())
        });
        let values = values.map(|(_, value)| value.as_str());
        csv.write_record(values.chain([reference, context]).chain(expected))?;
    }
    csv.flush()
}

fn write_json_lines(texts: &[GoldText], out: &mut impl io::Write) -> io::Result<()> {
    for text in texts {
        let values = text.submission.fields().iter();
        let values = values.map(|(key, value)| (key.to_string(), value.as_str()));
        let reference = text.reference.iter();
        let reference = reference.map(|reference| (REF.to_owned(), reference.as_str()));
        let context = text.submission.context().into_iter();
        let context = context.map(|context| (CONTEXT.to_owned(), context));
        let expected = text.expected.iter();
        let expected =
            expected.map(|one| (format!("{EXPECTED}{}", one.question), one.outcome.as_str()));
        let row = values.chain(reference).chain(context).chain(expected);
        serde_json::Serializer::new(&mut *out).collect_map(row)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

impl GoldProblem {
    /// The line on which the row begins.
    pub fn line(&self) -> u64 {
        match self {
            Self::Refused { line, .. } | Self::NoOutcome { line, .. } => *line,
        }
    }
}

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
