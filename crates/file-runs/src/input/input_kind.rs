//! The format of a file, detected by its name and, for CSV, by its header.

use std::path::Path;

use super::input_encoding::BYTE_ORDER_MARK;
use super::input_error::InputError;
use super::wanted_columns::WantedColumns;

const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

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
    /// An Excel workbook (.xlsx), of which one sheet is read.
    Workbook,
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
            Self::Workbook => "Excel workbook",
        }
    }

    /// Detects the format by a file's name and the beginning of its text.
    pub(crate) fn detect(
        path: &Path,
        start: &[u8],
        wanted: &WantedColumns,
    ) -> Result<Self, InputError> {
        let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
        let first = start.trim_ascii_start().first();
        let first = first.ok_or(InputError::Empty)?;
        let extension = path.extension().and_then(|extension| extension.to_str());
        let extension = extension.map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("jsonl" | "ndjson" | "json") => return Ok(Self::JsonLines),
            Some("tsv" | "tab") => return Ok(Self::Tsv),
            Some("csv") => {}
            Some(_) | None if *first == b'{' => return Ok(Self::JsonLines),
            Some(_) | None => {}
        }
        // the best separator gives most wanted columns, then most columns
        let score = |separator: &u8| {
            let header = header_with(*separator, start);
            (wanted.count_in(&header), header.len())
        };
        // reversed, because `max_by_key` returns the last of several maxima
        let best = SEPARATORS.iter().rev().copied().max_by_key(score);
        Ok(Self::Csv {
            separator: best.unwrap_or(b','),
        })
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
