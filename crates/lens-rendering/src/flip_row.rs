//! Rows of flips: one answer that flipped on each line, with what was answered before and after.

use std::io::{self, Write};

use refract_domain::answer::probability::Probability;
use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};

use crate::RowFormat;
use crate::cell::{Dialect, Line};
use crate::json::{ObjectWriter, write_null};
use crate::plain::id_text;

/// The names of the columns.
const NAMES: [&str; 8] = [
    "result_id",
    "ref",
    "question",
    "before",
    "before_probability",
    "after",
    "after_probability",
    "marked",
];

/// An answer that flipped.
#[derive(Clone, Copy, Debug)]
pub struct FlipRow<'a> {
    /// The stored result.
    pub result: ResultId,
    /// The result's `ref`.
    pub reference: Option<&'a str>,
    /// The question.
    pub question: &'a QuestionKey,
    /// The outcome before, with its probability; `None` if no outcome was predicted.
    pub before: Option<(&'a OutcomeKey, Option<Probability>)>,
    /// The outcome after, with its probability.
    pub after: Option<(&'a OutcomeKey, Option<Probability>)>,
    /// The marked outcome.
    pub marked: Option<&'a OutcomeKey>,
}

/// Writes answers that flipped as rows under one header. Cells follow the rules for rows of results.
///
/// Every cell takes a few small writes: wrap a file or a socket in a [`BufWriter`](io::BufWriter).
#[derive(Debug)]
pub struct FlipRowWriter<W> {
    format: RowFormat,
    out: W,
}

impl<W: Write> FlipRowWriter<W> {
    /// Makes a writer of rows; writes nothing yet.
    pub fn new(format: RowFormat, out: W) -> Self {
        Self { format, out }
    }

    /// Writes the header; jsonl has none.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_header(&mut self) -> io::Result<()> {
        let dialect = match self.format {
            RowFormat::Csv => Dialect::Csv,
            RowFormat::Tsv => Dialect::Tsv,
            RowFormat::Jsonl => return Ok(()),
        };
        let mut line = Line::begin(dialect, &mut self.out);
        for name in NAMES {
            line.plain(name.as_bytes())?;
        }
        line.end()
    }

    /// Writes one row.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_row(&mut self, row: &FlipRow<'_>) -> io::Result<()> {
        match self.format {
            RowFormat::Csv => self.write_line(Dialect::Csv, row),
            RowFormat::Tsv => self.write_line(Dialect::Tsv, row),
            RowFormat::Jsonl => self.write_object(row),
        }
    }

    /// Flushes and returns the underlying writer.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_line(&mut self, dialect: Dialect, row: &FlipRow<'_>) -> io::Result<()> {
        let mut line = Line::begin(dialect, &mut self.out);
        line.plain(&id_text(row.result))?;
        line.text(row.reference.unwrap_or_default())?;
        line.plain(row.question.as_str().as_bytes())?;
        for answer in [row.before, row.after] {
            let (outcome, probability) = answer.unzip();
            line.plain(outcome.map_or("", OutcomeKey::as_str).as_bytes())?;
            match probability.flatten() {
                Some(probability) => line.plain(probability.decimal().as_bytes())?,
                None => line.plain(b"")?,
            }
        }
        let marked = row.marked.map_or("", OutcomeKey::as_str);
        line.plain(marked.as_bytes())?;
        line.end()
    }

    fn write_object(&mut self, row: &FlipRow<'_>) -> io::Result<()> {
        let mut object = ObjectWriter::begin(&mut self.out)?;
        object.plain_string("result_id", &id_text(row.result))?;
        object.string_or_null("ref", row.reference)?;
        object.string("question", row.question.as_str())?;
        for (answer, of_outcome, of_probability) in [
            (row.before, "before", "before_probability"),
            (row.after, "after", "after_probability"),
        ] {
            let (outcome, probability) = answer.unzip();
            object.string_or_null(of_outcome, outcome.map(OutcomeKey::as_str))?;
            match probability.flatten() {
                Some(probability) => object.number(of_probability, probability.decimal())?,
                None => write_null(object.key(of_probability)?)?,
            }
        }
        object.string_or_null("marked", row.marked.map(OutcomeKey::as_str))?;
        object.end()?;
        self.out.write_all(b"\n")
    }
}
