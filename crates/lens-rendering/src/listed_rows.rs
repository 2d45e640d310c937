//! Rows of what an account has beside results, each under one header: events, one on each line; answers
//! that flipped, with what was answered before and after; and marks, one marked result and person on
//! each line, with the marked outcome of each question.

use std::io::{self, Write};
use std::str::from_utf8;

use refract_domain::answer::Probability;
use refract_domain::event::{Event, EventDetail, EventRequest};
use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::Value;

use crate::RowFormat;
use crate::cell::{Dialect, Line};
use crate::json::{ObjectWriter, id_text, iso_8601, write_further};
use crate::row::further::FurtherValue;

/// The names of the columns in order, which are also the keys of a JSON line.
const EVENT_NAMES: [&str; 11] = [
    "id",
    "at",
    "by",
    "by_kind",
    "action",
    "target_kind",
    "target",
    "from",
    "to",
    "note",
    "request_id",
];

/// An event, with the display names of its actor and its target.
#[derive(Clone, Copy, Debug)]
pub struct EventRow<'a> {
    /// The event.
    pub event: &'a Event,
    /// The actor's display name.
    pub by: &'a str,
    /// The target's display name.
    pub target: &'a str,
}

/// Writes events as rows under one header. Cells follow the rules for rows of results.
///
/// Every cell takes a few small writes: wrap a file or a socket in a [`BufWriter`](io::BufWriter).
#[derive(Debug)]
pub struct EventRowWriter<W> {
    lines: ListedLines<W>,
}

impl<W: Write> EventRowWriter<W> {
    /// Makes a writer of rows; writes nothing yet.
    pub fn new(format: RowFormat, out: W) -> Self {
        let lines = ListedLines { format, out };
        Self { lines }
    }

    /// Writes the header; jsonl has none.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_header(&mut self) -> io::Result<()> {
        self.lines.write_header(EVENT_NAMES)
    }

    /// Writes one event.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_row(&mut self, row: EventRow<'_>) -> io::Result<()> {
        let EventRow { event, by, target } = row;
        let stamp = &event.stamp;
        let id = stamp.id.to_string();
        let at = iso_8601(stamp.at);
        let at = from_utf8(&at).unwrap_or_default();
        let values = [
            Some(id.as_str()),
            Some(at),
            Some(by),
            Some(stamp.actor.kind().name()),
            Some(event.action.name()),
            Some(event.target.kind().name()),
            Some(target),
            event.from.as_ref().map(EventDetail::as_str),
            event.to.as_ref().map(EventDetail::as_str),
            stamp.note.as_ref().map(EventDetail::as_str),
            stamp.request.as_ref().map(EventRequest::as_str),
        ];
        let values = values.map(FurtherValue::Text);
        self.lines.write_row(EVENT_NAMES.into_iter().zip(values))
    }

    /// Flushes and returns the underlying writer.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn finish(self) -> io::Result<W> {
        self.lines.finish()
    }
}

/// The names of the columns of flips.
const FLIP_NAMES: [&str; 8] = [
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
    lines: ListedLines<W>,
}

impl<W: Write> FlipRowWriter<W> {
    /// Makes a writer of rows; writes nothing yet.
    pub fn new(format: RowFormat, out: W) -> Self {
        let lines = ListedLines { format, out };
        Self { lines }
    }

    /// Writes the header; jsonl has none.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_header(&mut self) -> io::Result<()> {
        self.lines.write_header(FLIP_NAMES)
    }

    /// Writes one row.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_row<'a>(&mut self, row: &FlipRow<'a>) -> io::Result<()> {
        let id = id_text(row.result);
        let outcome = |answer: Option<(&'a OutcomeKey, Option<Probability>)>| {
            FurtherValue::Text(answer.map(|(outcome, _)| outcome.as_str()))
        };
        let probability = |answer: Option<(&OutcomeKey, Option<Probability>)>| {
            let probability = answer.and_then(|(_, probability)| probability);
            probability.map_or(Value::Null, Value::Probability).into()
        };
        let values = [
            FurtherValue::Text(from_utf8(&id).ok()),
            FurtherValue::Text(row.reference),
            FurtherValue::Text(Some(row.question.as_str())),
            outcome(row.before),
            probability(row.before),
            outcome(row.after),
            probability(row.after),
            FurtherValue::Text(row.marked.map(OutcomeKey::as_str)),
        ];
        self.lines.write_row(FLIP_NAMES.into_iter().zip(values))
    }

    /// Flushes and returns the underlying writer.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn finish(self) -> io::Result<W> {
        self.lines.finish()
    }
}

/// The names of the columns of the result.
const MARK_NAMES: [&str; 2] = ["result_id", "ref"];

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
    lines: ListedLines<W>,
    questions: &'a [QuestionKey],
    has_adjudicated: bool,
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
            lines: ListedLines { format, out },
            questions,
            has_adjudicated,
        }
    }

    /// Writes the header; jsonl has none.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_header(&mut self) -> io::Result<()> {
        let names = names(self.questions, self.has_adjudicated);
        self.lines.write_header(names)
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
        let id = id_text(row.id);
        let adjudicated = if row.is_adjudicated { "true" } else { "false" };
        let person = Some(row.person).filter(|person| !person.is_empty());
        let facts = [from_utf8(&id).ok(), row.reference, person].into_iter();
        let facts = facts.chain(self.has_adjudicated.then_some(Some(adjudicated)));
        let marks = self
            .questions
            .iter()
            .map(|question| marked(question).map(OutcomeKey::as_str));
        let values = facts.chain(marks).map(FurtherValue::Text);
        let names = names(self.questions, self.has_adjudicated);
        self.lines.write_row(names.zip(values))
    }

    /// Flushes and returns the underlying writer.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn finish(self) -> io::Result<W> {
        self.lines.finish()
    }
}

/// The names of the columns of marks.
fn names(questions: &[QuestionKey], has_adjudicated: bool) -> impl Iterator<Item = &str> {
    let adjudicated = has_adjudicated.then(|| adjudicated_column(questions));
    let people = [person_column(questions)].into_iter().chain(adjudicated);
    let names = MARK_NAMES.into_iter().chain(people);
    names.chain(questions.iter().map(QuestionKey::as_str))
}

/// Writes lines of cells under one header, or an object on each line.
#[derive(Debug)]
struct ListedLines<W> {
    format: RowFormat,
    out: W,
}

impl<W: Write> ListedLines<W> {
    fn write_header<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> io::Result<()> {
        let Some(dialect) = self.dialect() else {
            return Ok(());
        };
        let mut line = Line::begin(dialect, &mut self.out);
        for name in names {
            line.plain(name.as_bytes())?;
        }
        line.end()
    }

    /// Writes the values of a line, each with the name of its column.
    fn write_row<'v>(
        &mut self,
        values: impl IntoIterator<Item = (&'v str, FurtherValue<'v>)>,
    ) -> io::Result<()> {
        let Some(dialect) = self.dialect() else {
            let mut object = ObjectWriter::begin(&mut self.out)?;
            for (name, value) in values {
                write_further(object.key(name)?, value)?;
            }
            object.end()?;
            return self.out.write_all(b"\n");
        };
        let mut line = Line::begin(dialect, &mut self.out);
        for (_, value) in values {
            line.further(value)?;
        }
        line.end()
    }

    fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// The dialect of the cells; `None` for JSON lines, which have no cells.
    fn dialect(&self) -> Option<Dialect> {
        match self.format {
            RowFormat::Csv => Some(Dialect::Csv),
            RowFormat::Tsv => Some(Dialect::Tsv),
            RowFormat::Jsonl => None,
        }
    }
}
