//! Reads the records of CSV and TSV, and no more bytes for one record than are allowed.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use csv::{ByteRecord, ReaderBuilder};

use super::input_error::InputError;
use super::quotes::{CheckedQuotes, QuoteError};
use super::raw_row::ROW_BYTES;
use super::text_reader::{InputEncoding, InputText, LineEnd};

/// The records of a CSV or TSV file, of which the first is the header.
pub(crate) struct CsvRecords {
    reader: csv::Reader<BoundedReader<Box<dyn Read + Send>>>,
    allowance: Allowance,
    encoding: InputEncoding,
    /// Number of line breaks at the end of a record that the reader has counted once it returns the
    /// record: 1 for `\n`; 0 for `\r\n`, since the record ends after the `\r`.
    breaks_passed: u64,
}

/// The characters between and around cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellSyntax {
    /// The character between cells.
    pub(crate) separator: u8,
    /// Whether cells may be quoted as in RFC 4180.
    pub(crate) is_quoted: bool,
    /// Whether the first line names the separator (`sep=;`) and is no record.
    pub(crate) has_separator_line: bool,
}

impl CsvRecords {
    /// Starts at the first record. All lines are assumed to end like the first.
    pub(crate) fn begin(text: InputText, syntax: CellSyntax) -> Result<Self, InputError> {
        let ends_crlf = text.line_end == LineEnd::CrLf;
        let checked: Box<dyn Read + Send> = if syntax.is_quoted {
            Box::new(CheckedQuotes::new(text.text, syntax.separator))
        } else {
            text.text
        };
        // lines are counted by their ends, so the last one needs one too; blank lines are no records
        let last_end: &[u8] = if ends_crlf { b"\r\n" } else { b"\n" };
        let ended: Box<dyn Read + Send> = Box::new(checked.chain(Cursor::new(last_end)));
        let allowance = Allowance::of(ROW_BYTES);
        let reader = ReaderBuilder::new()
            .delimiter(syntax.separator)
            .quoting(syntax.is_quoted)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(64 * 1024)
            .from_reader(BoundedReader::new(ended, allowance.clone()));
        let mut records = Self {
            reader,
            allowance,
            encoding: text.encoding,
            breaks_passed: u64::from(!ends_crlf),
        };
        if syntax.has_separator_line {
            records.next(&mut ByteRecord::new())?;
        }
        Ok(records)
    }

    /// Reads the next record and returns its first line; `None` after the last.
    pub(crate) fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>, InputError> {
        self.allowance.renew();
        match self.reader.read_byte_record(record) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => return Err(self.error(error, record)),
        }
        let line = self.line(record);
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
        let error = if let csv::ErrorKind::Io(error) = error.into_kind() {
            error
        } else {
            io::Error::from(io::ErrorKind::InvalidData)
        };
        let quote = error.get_ref();
        let quote = quote.and_then(|error| error.downcast_ref::<QuoteError>());
        match quote {
            Some(quote) => InputError::Quote(*quote),
            None => InputError::Unreadable { line, error },
        }
    }
}

/// Reads until the allowance is used up.
struct BoundedReader<R> {
    inner: R,
    allowance: Allowance,
}

/// The number of bytes that may still be read. Clones share it.
#[derive(Clone)]
pub(crate) struct Allowance {
    left: Arc<AtomicU64>,
    whole: u64,
}

impl Allowance {
    /// An allowance of `whole` bytes, none of them used.
    pub(crate) fn of(whole: u64) -> Self {
        Self {
            left: Arc::new(AtomicU64::new(whole)),
            whole,
        }
    }

    /// Renews the whole number of bytes.
    fn renew(&self) {
        self.left.store(self.whole, Ordering::Relaxed);
    }

    /// Whether no byte is left until the allowance is renewed.
    fn is_used_up(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

impl<R> BoundedReader<R> {
    /// Limits a reader by an allowance.
    pub(crate) fn new(inner: R, allowance: Allowance) -> Self {
        Self { inner, allowance }
    }
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.allowance.is_used_up() {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        let read = self.inner.read(buffer)?;
        let left = self.allowance.left.load(Ordering::Relaxed);
        let taken = u64::try_from(read).unwrap_or(u64::MAX);
        let left = left.saturating_sub(taken);
        self.allowance.left.store(left, Ordering::Relaxed);
        Ok(read)
    }
}
