//! How a file is written: found by its name, and for separators by its header.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::{InputFault, Wanted};

const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF_16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];
/// More of a header is not looked at.
const HEADER_BYTES: u64 = 1024 * 1024;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// RFC 4180 with this separator: cells may be quoted and hold line breaks.
    Csv {
        /// Comma, semicolon or tab.
        separator: u8,
    },
    /// Tabs and line breaks part cells and rows; a quote is a character like any other.
    Tsv,
    /// One JSON object a line.
    JsonLines,
}

impl InputKind {
    /// For people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Csv { separator: b';' } => "CSV with semicolons",
            Self::Csv { separator: b'\t' } => "CSV with tabs",
            Self::Csv { .. } => "CSV",
            Self::Tsv => "TSV",
            Self::JsonLines => "JSON Lines",
        }
    }

    /// Looks at a name and at the beginning of what it stands for.
    pub(crate) fn detect(
        path: &Path,
        file: impl Read,
        wanted: &Wanted,
    ) -> Result<Self, InputFault> {
        let unopened = InputFault::Unopened;
        let mut file = BufReader::new(file.take(HEADER_BYTES));
        let start = file.fill_buf().map_err(unopened)?;
        let nul_soon = start.iter().take(4).any(|byte| *byte == 0);
        if nul_soon || UTF_16_MARKS.iter().any(|mark| start.starts_with(mark)) {
            return Err(InputFault::Utf16);
        }
        if start.starts_with(UTF_8_MARK) {
            file.consume(UTF_8_MARK.len());
        }
        let first = first_character(&mut file).map_err(unopened)?;
        let first = first.ok_or(InputFault::Empty)?;
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
        // the separator under which the header has most of what is wanted, then most columns
        let score = |separator: &u8| {
            let header = header_with(*separator, &header);
            (wanted.count_in(&header), header.len())
        };
        // of equal ones the last would win
        let best = SEPARATORS.iter().rev().copied().max_by_key(score);
        Ok(Self::Csv {
            separator: best.unwrap_or(b','),
        })
    }
}

/// Skips blank lines.
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
    // what cannot be read is found again, with its line, when the rows are
    let _ = reader.read_byte_record(&mut record);
    record.iter().map(header_name).collect()
}

/// A column's name: what stands in the header without the space around it.
pub(crate) fn header_name(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).trim().to_owned()
}
