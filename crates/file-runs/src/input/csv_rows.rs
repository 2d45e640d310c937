//! Reads the rows of CSV and TSV.
//!
//! The crate `csv` ends a quoted cell at the end of the file, so everything after an unclosed quote
//! would be read as one long cell. A sentinel row appended to the file reveals such a quote.
//! `csv-core` would need the sentinel too: its state at the end of the input is private.

use std::fs::File;
use std::io::{Cursor, Read, Seek as _};

use csv::{ByteRecord, ReaderBuilder};

use super::bounded_reader::{Allowance, BoundedReader};
use super::input_error::InputError;
use super::input_kind::{InputKind, header_name};
use super::raw_row::{ROW_BYTES, RawRow, RawValue};
use super::wanted_columns::{PlacedColumns, WantedColumns};

/// The sentinel, a separate row after the end of the file. Inside a cell, it shows that the cell's
/// quote is unclosed.
const SENTINEL: &[u8] = b"\x01 the end of the file \x01";

/// The rows of a CSV or TSV file.
pub(crate) struct CsvRows {
    reader: csv::Reader<BoundedReader<Box<dyn Read + Send>>>,
    allowance: Allowance,
    record: ByteRecord,
    /// Number of line breaks at the end of a record that the reader has counted once it returns the
    /// record: 1 for `\n`; 0 for `\r\n`, since the record ends after the `\r`.
    breaks_passed: u64,
    header: Vec<String>,
    placed: PlacedColumns,
    has_ended: bool,
}

impl CsvRows {
    /// Reads the header and finds the wanted columns in it.
    pub(crate) fn begin(
        mut file: File,
        kind: InputKind,
        wanted: &WantedColumns,
    ) -> Result<Self, InputError> {
        let (separator, quoting) = match kind {
            InputKind::Csv { separator } => (separator, true),
            InputKind::Tsv | InputKind::JsonLines => (b'\t', false),
        };
        let ends_crlf = first_line_ends_crlf(&mut file).map_err(InputError::Unopened)?;
        let mut sentinel = if ends_crlf {
            b"\r\n".to_vec()
        } else {
            b"\n".to_vec()
        };
        sentinel.extend_from_slice(SENTINEL);
        let with_sentinel: Box<dyn Read + Send> = Box::new(file.chain(Cursor::new(sentinel)));
        let allowance = Allowance::of(ROW_BYTES);
        let reader = ReaderBuilder::new()
            .delimiter(separator)
            .quoting(quoting)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(64 * 1024)
            .from_reader(BoundedReader::new(with_sentinel, allowance.clone()));
        let mut rows = Self {
            reader,
            allowance,
            record: ByteRecord::new(),
            breaks_passed: u64::from(!ends_crlf),
            header: Vec::new(),
            placed: PlacedColumns {
                positions: Vec::new(),
                unused: Vec::new(),
            },
            has_ended: false,
        };
        if rows.advance()?.is_none() {
            return Err(InputError::Empty);
        }
        rows.header = rows.record.iter().map(header_name).collect();
        rows.placed = wanted.place(&rows.header)?;
        Ok(rows)
    }

    /// The names of all columns.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// The cells of the row read last.
    pub(crate) fn cells_of_last(&self) -> Vec<String> {
        let cells = self.record.iter();
        let cells = cells.map(|cell| String::from_utf8_lossy(cell).into_owned());
        cells.collect()
    }

    /// Names of the columns that are not wanted.
    pub(crate) fn unused_columns(&self) -> &[String] {
        &self.placed.unused
    }

    /// For each wanted column, whether the header has it.
    pub(crate) fn has_columns(&self) -> Vec<bool> {
        self.placed.positions.iter().map(Option::is_some).collect()
    }

    /// The next row; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<RawRow>, InputError> {
        let Some(line) = self.advance()? else {
            return Ok(None);
        };
        let found = self.record.len();
        let expected = self.header.len();
        if found != expected {
            return Err(InputError::WrongCells {
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
                let text = std::str::from_utf8(cell).map_err(|_| InputError::NotUtf8 { line })?;
                Ok(RawValue::Text {
                    text: text.to_owned(),
                    has_unpaired_surrogate: false,
                })
            }
        });
        let values = values.collect::<Result<_, _>>()?;
        Ok(Some(RawRow { line, values }))
    }

    /// Reads the next record and returns its first line; `None` after the last.
    fn advance(&mut self) -> Result<Option<u64>, InputError> {
        if self.has_ended {
            return Ok(None);
        }
        self.allowance.renew();
        if let Err(error) = self.reader.read_byte_record(&mut self.record) {
            return Err(self.error(error));
        }
        let line = self.line();
        let last = self.record.iter().next_back().unwrap_or_default();
        if last == SENTINEL && self.record.len() == 1 {
            self.has_ended = true;
            return Ok(None);
        }
        if last.ends_with(SENTINEL) {
            // the record ended with the file, so the reader counted no line end
            let line = line + self.breaks_passed;
            return Err(InputError::Unclosed { line });
        }
        if std::str::from_utf8(self.record.as_slice()).is_err() {
            return Err(InputError::NotUtf8 { line });
        }
        Ok(Some(line))
    }

    /// The first line of the current record.
    fn line(&self) -> u64 {
        let inside = self.record.as_slice().iter().filter(|byte| **byte == b'\n');
        let inside = u64::try_from(inside.count()).unwrap_or(u64::MAX);
        let passed = inside.saturating_add(self.breaks_passed);
        self.reader.position().line().saturating_sub(passed).max(1)
    }

    fn error(&self, error: csv::Error) -> InputError {
        let begins = self.record.position().map_or(1, csv::Position::line);
        let line = begins + 1 - self.breaks_passed;
        if self.allowance.is_used_up() {
            return InputError::TooLong { line };
        }
        // only reading can fail: a byte record accepts rows of any length with any bytes
        let error = std::io::Error::from(error);
        InputError::Unreadable { line, error }
    }
}

/// Whether the first line ends with `\r\n`. All lines are assumed to end like it.
fn first_line_ends_crlf(file: &mut File) -> std::io::Result<bool> {
    let mut start = Vec::new();
    file.by_ref().take(64 * 1024).read_to_end(&mut start)?;
    file.rewind()?;
    let mut lines = start.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    Ok(lines.next().is_some() && first.ends_with(b"\r"))
}
