//! Rows of events, the changes in an account, one event on each line; and of flips: one answer that
//! flipped on each line, with what was answered before and after.

use std::io::{self, Write};

use refract_domain::answer::probability::Probability;
use refract_domain::event::{Event, EventDetail, EventRequest};
use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};

use crate::RowFormat;
use crate::cell::{Dialect, Line};
use crate::json::{ObjectWriter, write_null};
use crate::plain::{id_text, iso_8601};

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
    format: RowFormat,
    out: W,
}

impl<W: Write> EventRowWriter<W> {
    /// Makes a writer of rows; writes nothing yet.
    pub fn new(format: RowFormat, out: W) -> Self {
        Self { format, out }
    }

    /// Writes the header; jsonl has none.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_header(&mut self) -> io::Result<()> {
        let Some(dialect) = dialect(self.format) else {
            return Ok(());
        };
        let mut line = Line::begin(dialect, &mut self.out);
        for name in EVENT_NAMES {
            line.plain(name.as_bytes())?;
        }
        line.end()
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
        let at = std::str::from_utf8(&at).unwrap_or_default();
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
        let Some(dialect) = dialect(self.format) else {
            let mut object = ObjectWriter::begin(&mut self.out)?;
            for (name, value) in EVENT_NAMES.into_iter().zip(values) {
                object.string_or_null(name, value)?;
            }
            object.end()?;
            return self.out.write_all(b"\n");
        };
        let mut line = Line::begin(dialect, &mut self.out);
        for value in values {
            line.text(value.unwrap_or_default())?;
        }
        line.end()
    }

    /// Flushes and returns the underlying writer.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The dialect of the cells; `None` for JSON lines, which have no cells.
fn dialect(format: RowFormat) -> Option<Dialect> {
    match format {
        RowFormat::Csv => Some(Dialect::Csv),
        RowFormat::Tsv => Some(Dialect::Tsv),
        RowFormat::Jsonl => None,
    }
}

/// The names of the columns.
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
        for name in FLIP_NAMES {
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
