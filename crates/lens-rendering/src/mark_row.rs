//! Rows of marks: one marked result and person on each line, with the marked outcome of each question.

use std::io::{self, Write};

use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};

use crate::RowFormat;
use crate::cell::{Dialect, Line};
use crate::json::ObjectWriter;
use crate::plain::id_text;

/// The names of the columns of the result.
const NAMES: [&str; 2] = ["result_id", "ref"];

/// The column that names who marked. A question of the same key has its own.
const PERSON: [&str; 2] = ["person", "marked_by"];
/// The column that is true in a row that settles disagreements.
const ADJUDICATED: [&str; 2] = ["adjudicated", "is_adjudicated"];

/// The column that names who marked, in a file with these questions.
pub fn person_column(questions: &[QuestionKey]) -> &'static str {
    free_name(PERSON, questions)
}

/// The column that is true in a row that settles disagreements, in a file with these questions.
pub fn adjudicated_column(questions: &[QuestionKey]) -> &'static str {
    free_name(ADJUDICATED, questions)
}

fn free_name([name, other]: [&'static str; 2], questions: &[QuestionKey]) -> &'static str {
    if questions.iter().any(|key| key.as_str() == name) {
        other
    } else {
        name
    }
}

/// Whose marks of which result a row holds.
#[derive(Clone, Copy, Debug)]
pub struct AnnotatorRow<'r> {
    /// The result.
    pub id: ResultId,
    /// The caller's own reference.
    pub reference: Option<&'r str>,
    /// Who marked; empty for nobody.
    pub person: &'r str,
    /// Whether the marks settle disagreements.
    pub is_adjudicated: bool,
}

/// Writes marked results as rows under one header: the result's id, its `ref`, who marked, and the
/// key of the marked outcome in a column for each question. Cells follow the rules for rows of
/// results.
///
/// Every cell takes a few small writes: wrap a file or a socket in a [`BufWriter`](io::BufWriter).
#[derive(Debug)]
pub struct MarkRowWriter<'a, W> {
    format: RowFormat,
    questions: &'a [QuestionKey],
    has_adjudicated: bool,
    out: W,
}

impl<'a, W: Write> MarkRowWriter<'a, W> {
    /// Makes a writer of rows with these questions, and with a column of settled disagreements if
    /// there are any; writes nothing yet.
    pub fn new(
        format: RowFormat,
        questions: &'a [QuestionKey],
        has_adjudicated: bool,
        out: W,
    ) -> Self {
        Self {
            format,
            questions,
            has_adjudicated,
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
        let people = [person_column(self.questions)].into_iter();
        let people = people.chain(
            self.has_adjudicated
                .then(|| adjudicated_column(self.questions)),
        );
        for name in NAMES.into_iter().chain(people).chain(questions) {
            line.plain(name.as_bytes())?;
        }
        line.end()
    }

    /// Writes the marks of one result by one person. `marked` returns the marked outcome of a question.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_row<'m>(
        &mut self,
        row: AnnotatorRow<'_>,
        marked: impl Fn(&QuestionKey) -> Option<&'m OutcomeKey>,
    ) -> io::Result<()> {
        match self.format {
            RowFormat::Csv => self.write_line(Dialect::Csv, row, marked),
            RowFormat::Tsv => self.write_line(Dialect::Tsv, row, marked),
            RowFormat::Jsonl => self.write_object(row, marked),
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
        row: AnnotatorRow<'_>,
        marked: impl Fn(&QuestionKey) -> Option<&'m OutcomeKey>,
    ) -> io::Result<()> {
        let mut line = Line::begin(dialect, &mut self.out);
        line.plain(&id_text(row.id))?;
        line.text(row.reference.unwrap_or_default())?;
        line.text(row.person)?;
        if self.has_adjudicated {
            line.plain(row.is_adjudicated.to_string().as_bytes())?;
        }
        for question in self.questions {
            let outcome = marked(question).map_or("", OutcomeKey::as_str);
            line.plain(outcome.as_bytes())?;
        }
        line.end()
    }

    fn write_object<'m>(
        &mut self,
        row: AnnotatorRow<'_>,
        marked: impl Fn(&QuestionKey) -> Option<&'m OutcomeKey>,
    ) -> io::Result<()> {
        let mut object = ObjectWriter::begin(&mut self.out)?;
        object.plain_string("result_id", &id_text(row.id))?;
        object.string_or_null("ref", row.reference)?;
        let person = Some(row.person).filter(|person| !person.is_empty());
        object.string_or_null(person_column(self.questions), person)?;
        if self.has_adjudicated {
            let value = row.is_adjudicated.to_string();
            object.string_or_null(adjudicated_column(self.questions), Some(&value))?;
        }
        for question in self.questions {
            object.string_or_null(question.as_str(), marked(question).map(OutcomeKey::as_str))?;
        }
        object.end()?;
        self.out.write_all(b"\n")
    }
}
