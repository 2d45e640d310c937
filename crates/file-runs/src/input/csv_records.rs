//! Reads the records of CSV and TSV.
//!
//! The crate `csv` ends a quoted cell at the end of the file, so everything after an unclosed quote
//! would be read as one long cell. A sentinel row appended to the file reveals such a quote.
//! `csv-core` would need the sentinel too: its state at the end of the input is private.

use std::io::{Cursor, Read};

use csv::{ByteRecord, ReaderBuilder};

use super::bounded_reader::{Allowance, BoundedReader};
use super::input_encoding::InputEncoding;
use super::input_error::InputError;
use super::input_kind::InputKind;
use super::raw_row::ROW_BYTES;
use super::text_reader::{InputText, LineEnd};

/// The sentinel, a separate row after the end of the file. Inside a cell, it shows that the cell's
/// quote is unclosed.
const SENTINEL: &[u8] = b"\x01 the end of the file \x01";

/// The records of a CSV or TSV file, of which the first is the header.
pub(crate) struct CsvRecords {
    reader: csv::Reader<BoundedReader<Box<dyn Read + Send>>>,
    allowance: Allowance,
    encoding: InputEncoding,
    /// Number of line breaks at the end of a record that the reader has counted once it returns the
    /// record: 1 for `\n`; 0 for `\r\n`, since the record ends after the `\r`.
    breaks_passed: u64,
    has_ended: bool,
}

impl CsvRecords {
    /// Starts at the first record. All lines are assumed to end like the first.
    pub(crate) fn begin(text: InputText, kind: InputKind) -> Self {
        let (separator, quoting) = match kind {
            InputKind::Csv { separator } => (separator, true),
            InputKind::Tsv | InputKind::JsonLines | InputKind::Workbook => (b'\t', false),
        };
        let ends_crlf = text.line_end == LineEnd::CrLf;
        let mut sentinel = if ends_crlf {
            b"\r\n".to_vec()
        } else {
            b"\n".to_vec()
        };
        sentinel.extend_from_slice(SENTINEL);
        let with_sentinel: Box<dyn Read + Send> = Box::new(text.text.chain(Cursor::new(sentinel)));
        let allowance = Allowance::of(ROW_BYTES);
        let reader = ReaderBuilder::new()
            .delimiter(separator)
            .quoting(quoting)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(64 * 1024)
            .from_reader(BoundedReader::new(with_sentinel, allowance.clone()));
        Self {
            reader,
            allowance,
            encoding: text.encoding,
            breaks_passed: u64::from(!ends_crlf),
            has_ended: false,
        }
    }

    /// Reads the next record and returns its first line; `None` after the last.
    pub(crate) fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>, InputError> {
        if self.has_ended {
            return Ok(None);
        }
        self.allowance.renew();
        if let Err(error) = self.reader.read_byte_record(record) {
            return Err(self.error(error, record));
        }
        let line = self.line(record);
        let last = record.iter().next_back().unwrap_or_default();
        if last == SENTINEL && record.len() == 1 {
            self.has_ended = true;
            return Ok(None);
        }
        if last.ends_with(SENTINEL) {
            // the record ended with the file, so the reader counted no line end
            let line = line + self.breaks_passed;
            return Err(InputError::Unclosed { line });
        }
        if std::str::from_utf8(record.as_slice()).is_err() {
            let encoding = self.encoding;
            return Err(InputError::NotText { line, encoding });
        }
        Ok(Some(line))
    }

    /// The first line of the record read last.
    fn line(&self, record: &ByteRecord) -> u64 {
        let inside = record.as_slice().iter().filter(|byte| **byte == b'\n');
        let inside = u64::try_from(inside.count()).unwrap_or(u64::MAX);
        let passed = inside.saturating_add(self.breaks_passed);
        self.reader.position().line().saturating_sub(passed).max(1)
    }

    fn error(&self, error: csv::Error, record: &ByteRecord) -> InputError {
        let begins = record.position().map_or(1, csv::Position::line);
        let line = begins + 1 - self.breaks_passed;
        if self.allowance.is_used_up() {
            return InputError::TooLong { line };
        }
        // only reading can fail: a byte record accepts rows of any length with any bytes
        let error = std::io::Error::from(error);
        InputError::Unreadable { line, error }
    }
}
