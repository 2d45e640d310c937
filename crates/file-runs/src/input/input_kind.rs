//! The format of a file, detected by its name and, for CSV, by its header; and files that are not
//! text, recognized by their first bytes.

use std::path::Path;

use super::column_mapping::WantedColumns;
use super::input_error::InputError;
use super::json_values::ValueEnd;
use super::text_reader::{BYTE_ORDER_MARK, InputEncoding, is_utf_32};

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
    /// A Parquet file.
    Parquet,
}

impl InputKind {
    /// Whether this build reads workbooks.
    pub const READS_WORKBOOKS: bool = cfg!(feature = "workbooks");
    /// Whether this build reads Parquet files.
    pub const READS_PARQUET: bool = cfg!(feature = "parquet");

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
            Self::Parquet => "Parquet",
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

/// Whether a text of any name is JSON: an empty array, or an object with a first key, in an array or
/// not. No header of a table begins so.
fn begins_json_rows(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    let in_array = start.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    if in_array.is_some_and(|rest| rest.trim_ascii() == b"]") {
        return true;
    }
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
    let first = start.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
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

/// First bytes of files that are not text, with the kind of file and what to do about it.
const BEGINNINGS: [(&[u8], &str); 8] = [
    (b"\x1f\x8b", "it is compressed with gzip: unpack it first"),
    (
        b"\x28\xb5\x2f\xfd",
        "it is compressed with Zstandard: unpack it first",
    ),
    (b"\xfd7zXZ\0", "it is compressed with xz: unpack it first"),
    (
        b"PK\x03\x04",
        "it is a ZIP archive, as spreadsheets (.xlsx, .ods) are: save the table as CSV in UTF-8",
    ),
    (
        b"\xd0\xcf\x11\xe0",
        "it is an old Excel workbook (.xls) or one with a password: save the table without a password \
         as .xlsx, or as CSV in UTF-8",
    ),
    (
        b"ARROW1\0",
        "it is an Arrow file, which is not supported: write it as CSV or JSON Lines",
    ),
    (b"%PDF-", "it is a PDF: a text is needed"),
    (
        b"SQLite format 3\0",
        "it is an SQLite database: write the table as CSV",
    ),
];
/// What to do about a workbook with a password.
const LOCKED: &str = "it is a workbook with a password: save it without one, or as CSV in UTF-8";
/// The beginning of the name of the part that holds a workbook with a password, in UTF-16.
const LOCKED_PART: &[u8] = b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k";
/// What to do about a Parquet file where a text is needed.
const PARQUET: &str = "it is a Parquet file: a text is needed";
/// What to do about an encrypted Parquet file.
const ENCRYPTED_PARQUET: &str = "it is an encrypted Parquet file: write it without encryption";
/// The bytes of bzip2 data after its header of four bytes.
const BZIP2_BLOCK: &[u8] = b"1AY&SY";

/// Whether a file with these first bytes may be an Excel workbook, which is a ZIP archive.
pub(crate) fn begins_workbook(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04")
}

/// Whether a file with these first bytes may be a Parquet file: after its four letters comes a page or
/// a footer, whose first bytes are no text.
pub(crate) fn begins_parquet(start: &[u8]) -> bool {
    matches!(start, [b'P', b'A', b'R', b'1', next, ..]
        if next.is_ascii_control() && !b"\t\n\r".contains(next))
}

/// The kind of a file that is not text, and what to do about it; `None` for text. `start` is the
/// file's first bytes: up to a few thousand, more bytes make the result more certain.
pub fn binary_kind(start: &[u8]) -> Option<&'static str> {
    if begins_parquet(start) {
        return Some(PARQUET);
    }
    // an encrypted part begins with its length in four bytes; the first one may be the footer alone
    if matches!(start, [b'P', b'A', b'R', b'E' | b'1', _, _, _, 0, ..]) {
        return Some(ENCRYPTED_PARQUET);
    }
    if start.starts_with(b"\xd0\xcf\x11\xe0") && memchr::memmem::find(start, LOCKED_PART).is_some()
    {
        return Some(LOCKED);
    }
    let mut known = BEGINNINGS.iter();
    if let Some((_, what)) = known.find(|(beginning, _)| start.starts_with(beginning)) {
        return Some(what);
    }
    if start.starts_with(b"BZh") && start.get(4..10) == Some(BZIP2_BLOCK) {
        return Some("it is compressed with bzip2: unpack it first");
    }
    if is_utf_32(start) {
        return Some("it is not UTF-8 but UTF-32: save it as UTF-8");
    }
    if InputEncoding::utf_16(start).is_some() {
        return Some("it is not UTF-8 but UTF-16: save it as UTF-8");
    }
    // the last character may be cut off
    let is_text =
        std::str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true);
    (start.contains(&0) && !is_text).then_some("it is no text, but binary data")
}

/// The kind of a text that is markup and no table, and what to do about it. `start` is its beginning in
/// UTF-8.
pub(crate) fn markup_kind(start: &[u8]) -> Option<&'static str> {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let start = start.trim_ascii_start();
    let begins = |name: &[u8]| {
        let start = start.get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    let is_html = [
        &b"<!doctype html"[..],
        b"<html",
        b"<table",
        b"<meta",
        b"<head",
    ];
    if is_html.into_iter().any(begins) {
        return Some(
            "it is an HTML page, which some programs call .xls or .csv, and which a download may be \
             in place of a file: save the table as CSV in UTF-8",
        );
    }
    begins(b"<?xml").then_some("it is XML: save the table as CSV in UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_text_is_named() {
        for (start, words) in [
            (&b"\x1f\x8b\x08\0\0\0\0\0"[..], "gzip"),
            (b"\x28\xb5\x2f\xfd\x04", "Zstandard"),
            (b"BZh91AY&SY\x8f", "bzip2"),
            (b"\xfd7zXZ\0\0\x04", "xz"),
            (b"PK\x03\x04\x14\0\x06\0", ".xlsx"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1", ".xls"),
            (b"PAR1\x15\x04", "Parquet"),
            (b"PARE*\0\0\0jh\x80", "encrypted Parquet"),
            (b"PAR1*\0\0\0o\x13/", "encrypted Parquet"),
            (
                b"\xd0\xcf\x11\xe0..E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0",
                "a password: save it without",
            ),
            (b"%PDF-1.7", "PDF"),
            (b"SQLite format 3\0", "SQLite"),
            (b"\xff\xfet\0", "UTF-16"),
            (b"\0t\0e", "UTF-16"),
            (b"\xff\xfe\0\0t\0\0\0", "UTF-32"),
            (b"\0\0\xfe\xff\0\0\0t", "UTF-32"),
            (b"t\0\0\0e\0\0\0", "UTF-32"),
            (b"\0\0\0t\0\0\0e", "UTF-32"),
            (b"\x7fELF\x02\x01\x01\0\x90\xff", "binary"),
        ] {
            let kind = binary_kind(start);
            assert!(
                kind.is_some_and(|kind| kind.contains(words)),
                "{words}: {kind:?}"
            );
        }
    }

    #[test]
    fn markup_under_another_name_is_named() {
        for (start, words) in [
            (&b"\xef\xbb\xbf\r\n<!DOCTYPE html><html>"[..], "HTML"),
            (b"<Table border=1>", "HTML"),
            (b"<?xml version=\"1.0\"?>", "XML"),
        ] {
            assert!(markup_kind(start).is_some_and(|kind| kind.contains(words)));
        }
        assert_eq!(markup_kind(b"<b>text</b>,ref\n"), None);
    }

    #[test]
    fn text_is_no_binary_data() {
        for start in [
            &b""[..],
            b"text,ref\n",
            b"BZh,PK",
            b"PAR1,PAR2\n",
            b"\xef\xbb\xbftext\n",
            b"text\na\0b\n",
            b"text\n\xc3\xbc\0\xc3",
            b"Latin\xfc1\n",
        ] {
            assert_eq!(binary_kind(start), None, "{start:?}");
        }
    }
}
