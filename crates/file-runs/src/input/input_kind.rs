//! The format of a file, detected by its name and, for CSV, by its header.

use std::path::Path;

use super::column_mapping::WantedColumns;
use super::input_encoding::BYTE_ORDER_MARK;
use super::input_error::InputError;
use super::json_values::ValueEnd;

const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The format of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// CSV by RFC 4180: cells may be quoted and contain line breaks.
    Csv {
        /// The character between cells: comma, semicolon, tab, a vertical bar, or the one that a first
        /// line `sep=` names.
        separator: u8,
    },
    /// Tabs separate cells and line breaks separate rows.
    Tsv {
        /// Whether cells are quoted as in CSV. If not, a quote has no meaning.
        is_quoted: bool,
    },
    /// One JSON object per line.
    JsonLines,
    /// JSON objects in an array, or one after the other over any number of lines.
    Json,
    /// An Excel workbook (.xlsx), of which one sheet is read.
    Workbook,
}

impl InputKind {
    /// The name of the format for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Csv { separator: b';' } => "CSV with semicolons",
            Self::Csv { separator: b'\t' } => "CSV with tabs",
            Self::Csv { separator: b'|' } => "CSV with vertical bars",
            Self::Csv { .. } => "CSV",
            Self::Tsv { is_quoted: true } => "TSV with quoted cells",
            Self::Tsv { is_quoted: false } => "TSV",
            Self::JsonLines => "JSON Lines",
            Self::Json => "JSON",
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
            Some("jsonl" | "ndjson" | "json") => return Ok(json_kind(start)),
            // exports of JSON are often saved under the name of a table
            Some("csv" | "tsv" | "tab") if begins_json_rows(start) => return Ok(json_kind(start)),
            Some("tsv" | "tab") => return Ok(Self::Tsv { is_quoted: false }),
            Some("csv") => {}
            Some(_) | None if *first == b'{' || begins_json_rows(start) => {
                return Ok(json_kind(start));
            }
            Some(_) | None => {}
        }
        if let Some(separator) = separator_line(start) {
            return Ok(Self::Csv { separator });
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

/// Whether a text of any name is JSON: an object with a first key, in an array or not. No header of a
/// table begins so.
fn begins_json_rows(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    let in_array = start.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    let object = in_array.unwrap_or(start).strip_prefix(b"{");
    object.is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\""))
}

/// JSON Lines if the first line holds one whole value, or one that is broken inside a string, which no
/// value over several lines is; the reader of lines says where.
fn json_kind(start: &[u8]) -> InputKind {
    let start = start.trim_ascii_start();
    let line_end = memchr::memchr(b'\n', start);
    let first = start.get(..line_end.unwrap_or(start.len()));
    let first = first.unwrap_or_default().trim_ascii_end();
    let mut end = ValueEnd::default();
    let (used, is_whole) = end.find(first);
    let is_cut = line_end.is_none() && !is_whole;
    let rest = first.get(used..).unwrap_or_default().trim_ascii_start();
    let goes_on = matches!(rest.first(), Some(b',' | b'{'));
    if first.starts_with(b"[") || end.is_open() && !end.is_in_string() && !is_cut || goes_on {
        InputKind::Json
    } else {
        InputKind::JsonLines
    }
}

/// The separator that a first line `sep=;` names, as tools write it for Excel.
pub(crate) fn separator_line(start: &[u8]) -> Option<u8> {
    let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
    let first = start.split(|byte| *byte == b'\n').next()?;
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let quoted = first
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""));
    match quoted.unwrap_or(first) {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator]
            if separator.is_ascii() && *separator != b'"' =>
        {
            Some(*separator)
        }
        _ => None,
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

/// A column's name: the header's cell without surrounding white space and byte order marks, of which
/// files that were joined or saved again have several.
pub(crate) fn header_name(cell: &[u8]) -> String {
    let name = String::from_utf8_lossy(cell);
    let name = name.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    name.to_owned()
}
