//! Rows of CSV and TSV.

use std::fs::File;
use std::io::{Cursor, Read, Seek as _};

use csv::{ByteRecord, ReaderBuilder};

use super::bounded::{Allowance, Bounded};
use super::columns::Placed;
use super::kind::header_name;
use super::{InputFault, InputKind, ROW_BYTES, RawRow, RawValue, Wanted};

/// Stands after the end of every file, as a row of its own: who finds it inside of a cell has found
/// a quote that was never closed.
const END: &[u8] = b"\x01 the end of the file \x01";

/// Reads row after row.
pub(crate) struct CsvRows {
    reader: csv::Reader<Bounded<Box<dyn Read + Send>>>,
    allowance: Allowance,
    record: ByteRecord,
    /// Line breaks that the reader has passed when it ends a record: of `\r\n` it has only seen
    /// the first half.
    breaks_passed: u64,
    columns: usize,
    placed: Placed,
    has_ended: bool,
}

impl CsvRows {
    /// Reads the header and finds the wanted columns in it.
    pub(crate) fn begin(
        mut file: File,
        kind: InputKind,
        wanted: &Wanted,
    ) -> Result<Self, InputFault> {
        let (separator, quoting) = match kind {
            InputKind::Csv { separator } => (separator, true),
            InputKind::Tsv | InputKind::JsonLines => (b'\t', false),
        };
        let ends_crlf = first_line_ends_crlf(&mut file).map_err(InputFault::Unopened)?;
        let mut end = if ends_crlf {
            b"\r\n".to_vec()
        } else {
            b"\n".to_vec()
        };
        end.extend_from_slice(END);
        let with_end: Box<dyn Read + Send> = Box::new(file.chain(Cursor::new(end)));
        let allowance = Allowance::of(ROW_BYTES);
        let reader = ReaderBuilder::new()
            .delimiter(separator)
            .quoting(quoting)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(64 * 1024)
            .from_reader(Bounded::new(with_end, allowance.clone()));
        let mut rows = Self {
            reader,
            allowance,
            record: ByteRecord::new(),
            breaks_passed: u64::from(!ends_crlf),
            columns: 0,
            placed: Placed {
                positions: Vec::new(),
                passed_by: Vec::new(),
            },
            has_ended: false,
        };
        if rows.advance()?.is_none() {
            return Err(InputFault::Empty);
        }
        let header: Vec<_> = rows.record.iter().map(header_name).collect();
        rows.columns = header.len();
        rows.placed = wanted.place(&header)?;
        Ok(rows)
    }

    /// Names of the columns that nobody wants.
    pub(crate) fn passed_by(&self) -> &[String] {
        &self.placed.passed_by
    }

    /// The next row; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<RawRow>, InputFault> {
        let Some(line) = self.advance()? else {
            return Ok(None);
        };
        let found = self.record.len();
        if found != self.columns {
            let expected = self.columns;
            return Err(InputFault::Torn {
                line,
                found,
                expected,
            });
        }
        let positions = self.placed.positions.iter();
        let values = positions.map(|position| match position {
            None => Ok(RawValue::Absent { is_null: false }),
            Some(position) => {
                let cell = self.record.get(*position).unwrap_or_default();
                let text = std::str::from_utf8(cell).map_err(|_| InputFault::NotUtf8 { line })?;
                Ok(RawValue::Text {
                    text: text.to_owned(),
                    has_unpaired_surrogate: false,
                })
            }
        });
        let values = values.collect::<Result<_, _>>()?;
        Ok(Some(RawRow { line, values }))
    }

    /// Goes to the next record; the line of its beginning.
    fn advance(&mut self) -> Result<Option<u64>, InputFault> {
        if self.has_ended {
            return Ok(None);
        }
        self.allowance.renew();
        if let Err(error) = self.reader.read_byte_record(&mut self.record) {
            return Err(self.fault(error));
        }
        let line = self.line();
        let last = self.record.iter().next_back().unwrap_or_default();
        if last == END && self.record.len() == 1 {
            self.has_ended = true;
            return Ok(None);
        }
        if last.ends_with(END) {
            // what ended here was the file and no row
            let line = line + self.breaks_passed;
            return Err(InputFault::Unclosed { line });
        }
        if std::str::from_utf8(self.record.as_slice()).is_err() {
            return Err(InputFault::NotUtf8 { line });
        }
        Ok(Some(line))
    }

    /// The line on which the record began that was just read.
    fn line(&self) -> u64 {
        let inside = self.record.as_slice().iter().filter(|byte| **byte == b'\n');
        let inside = u64::try_from(inside.count()).unwrap_or(u64::MAX);
        let passed = inside.saturating_add(self.breaks_passed);
        self.reader.position().line().saturating_sub(passed).max(1)
    }

    fn fault(&self, error: csv::Error) -> InputFault {
        let begins = self.record.position().map_or(1, csv::Position::line);
        let line = begins + 1 - self.breaks_passed;
        if self.allowance.is_used_up() {
            return InputFault::TooLong { line };
        }
        // nothing but reading can fail: rows of any length are taken as bytes
        let error = std::io::Error::from(error);
        InputFault::Unreadable { line, error }
    }
}

/// Whether lines end with `\r\n`, as far as the first one tells.
fn first_line_ends_crlf(file: &mut File) -> std::io::Result<bool> {
    let mut start = Vec::new();
    file.by_ref().take(64 * 1024).read_to_end(&mut start)?;
    file.rewind()?;
    let mut lines = start.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    Ok(lines.next().is_some() && first.ends_with(b"\r"))
}
