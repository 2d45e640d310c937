//! A gold file as a list of texts: read whole by the rules of a run, and written so that reading it
//! gives the same texts.

use std::io;
use std::sync::Arc;

use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;
use refract_domain::submission::reference::Ref;
use serde::Serializer as _;

use crate::file_run::OpenRunError;
use crate::gold::cells::{EXPECTED, ExpectedOutcome};
use crate::input::column_mapping::{CONTEXT, InputColumns, REF};
use crate::input::rows::InputRows;
use crate::input::{InputFile, InputSource};
use crate::run::shard::Shard;

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
