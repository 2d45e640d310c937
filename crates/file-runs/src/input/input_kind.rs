//! The format of a file, detected by its name and, for CSV, by its header.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::binary_kind::binary_kind;
use super::input_error::InputError;
use super::wanted_columns::WantedColumns;

/// The byte order mark of UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];
/// Number of bytes at the beginning of a file that are searched for the header.
const HEADER_BYTES: u64 = 1024 * 1024;

/// The format of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// CSV by RFC 4180: cells may be quoted and contain line breaks.
    Csv {
        /// The character between cells: comma, semicolon or tab.
        separator: u8,
    },
    /// Tabs separate cells and line breaks separate rows; a quote has no meaning.
    Tsv,
    /// One JSON object per line.
    JsonLines,
}

impl InputKind {
    /// The name of the format for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Csv { separator: b';' } => "CSV with semicolons",
            Self::Csv { separator: b'\t' } => "CSV with tabs",
            Self::Csv { .. } => "CSV",
            Self::Tsv => "TSV",
            Self::JsonLines => "JSON Lines",
        }
    }

    /// Detects the format by a file's name and its first bytes.
    pub(crate) fn detect(
        path: &Path,
        file: impl Read,
        wanted: &WantedColumns,
    ) -> Result<Self, InputError> {
        let unopened = InputError::Unopened;
        let mut file = BufReader::new(file.take(HEADER_BYTES));
        let start = file.fill_buf().map_err(unopened)?;
        if let Some(kind) = binary_kind(start) {
            return Err(InputError::Binary(kind));
        }
        if start.starts_with(BYTE_ORDER_MARK) {
            file.consume(BYTE_ORDER_MARK.len());
        }
        let first = first_character(&mut file).map_err(unopened)?;
        let first = first.ok_or(InputError::Empty)?;
        let extension = path.extension().and_then(|extension| extension.to_str());
        let extension = extension.map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("jsonl" | "ndjson" | "json") => return Ok(Self::JsonLines),
            Some("tsv" | "tab") => return Ok(Self::Tsv),
            Some("csv") => {}
            Some(_) | None if first == b'{' => return Ok(Self::JsonLines),
            Some(_) | None => {}
        }
        let mut header = Vec::new();
        file.read_to_end(&mut header).map_err(unopened)?;
        // the best separator gives most wanted columns, then most columns
        let score = |separator: &u8| {
            let header = header_with(*separator, &header);
            (wanted.count_in(&header), header.len())
        };
        // reversed, because `max_by_key` returns the last of several maxima
        let best = SEPARATORS.iter().rev().copied().max_by_key(score);
        Ok(Self::Csv {
            separator: best.unwrap_or(b','),
        })
    }
}

/// The first byte other than white space.
fn first_character(file: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let buffer = file.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        let first = buffer.iter().find(|byte| !byte.is_ascii_whitespace());
        if let Some(first) = first.copied() {
            return Ok(Some(first));
        }
        let blank = buffer.len();
        file.consume(blank);
    }
}

fn header_with(separator: u8, start: &[u8]) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(start);
    let mut record = csv::ByteRecord::new();
    // an error here recurs when the rows are read, and is reported then with its line
    let _ = reader.read_byte_record(&mut record);
    record.iter().map(header_name).collect()
}

/// A column's name: the header's cell without surrounding white space.
pub(crate) fn header_name(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).trim().to_owned()
}
