//! Rows of events, the changes in an account: one event on each line.

use std::io::{self, Write};

use refract_domain::event::{Event, EventDetail, EventRequest};

use crate::RowFormat;
use crate::cell::{Dialect, Line};
use crate::json::ObjectWriter;
use crate::plain::iso_8601;

/// The names of the columns in order, which are also the keys of a JSON line.
const NAMES: [&str; 11] = [
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
        for name in NAMES {
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
            for (name, value) in NAMES.into_iter().zip(values) {
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
