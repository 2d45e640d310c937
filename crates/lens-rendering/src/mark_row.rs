//! Rows of marks: one marked result on each line, with the marked outcome of each question.

use std::io::{self, Write};

use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};

use crate::RowFormat;
use crate::cell::{Dialect, Line};
use crate::json::ObjectWriter;
use crate::plain::id_text;

/// The names of the columns before the questions' columns.
const NAMES: [&str; 2] = ["result_id", "ref"];

/// Writes marked results as rows under one header: the result's id, its `ref`, and the key of the
/// marked outcome in a column for each question. Cells follow the rules for rows of results.
///
/// Every cell takes a few small writes: wrap a file or a socket in a [`BufWriter`](io::BufWriter).
#[derive(Debug)]
pub struct MarkRowWriter<'a, W> {
    format: RowFormat,
    questions: &'a [QuestionKey],
    out: W,
}

impl<'a, W: Write> MarkRowWriter<'a, W> {
    /// Makes a writer of rows with these questions; writes nothing yet.
    pub fn new(format: RowFormat, questions: &'a [QuestionKey], out: W) -> Self {
        Self {
            format,
            questions,
            out,
        }
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
        let questions = self.questions.iter().map(QuestionKey::as_str);
        for name in NAMES.into_iter().chain(questions) {
            line.plain(name.as_bytes())?;
        }
        line.end()
    }

    /// Writes one marked result. `marked` returns the marked outcome of a question.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_row<'m>(
        &mut self,
        id: ResultId,
        reference: Option<&str>,
        marked: impl Fn(&QuestionKey) -> Option<&'m OutcomeKey>,
    ) -> io::Result<()> {
        match self.format {
            RowFormat::Csv => self.write_line(Dialect::Csv, id, reference, marked),
            RowFormat::Tsv => self.write_line(Dialect::Tsv, id, reference, marked),
            RowFormat::Jsonl => self.write_object(id, reference, marked),
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

    fn write_line<'m>(
        &mut self,
        dialect: Dialect,
        id: ResultId,
        reference: Option<&str>,
        marked: impl Fn(&QuestionKey) -> Option<&'m OutcomeKey>,
    ) -> io::Result<()> {
        let mut line = Line::begin(dialect, &mut self.out);
        line.plain(&id_text(id))?;
        line.text(reference.unwrap_or_default())?;
        for question in self.questions {
            let outcome = marked(question).map_or("", OutcomeKey::as_str);
            line.plain(outcome.as_bytes())?;
        }
        line.end()
    }

    fn write_object<'m>(
        &mut self,
        id: ResultId,
        reference: Option<&str>,
        marked: impl Fn(&QuestionKey) -> Option<&'m OutcomeKey>,
    ) -> io::Result<()> {
        let mut row = ObjectWriter::begin(&mut self.out)?;
        row.plain_string("result_id", &id_text(id))?;
        row.string_or_null("ref", reference)?;
        for question in self.questions {
            row.string_or_null(question.as_str(), marked(question).map(OutcomeKey::as_str))?;
        }
        row.end()?;
        self.out.write_all(b"\n")
    }
}
