//! The outline of a file: its format, its columns and its first rows, for a person to match columns;
//! a part of it is stored with an upload.

use serde::{Deserialize, Serialize};

use super::column_mapping::WantedColumns;
use super::input_error::InputError;
use super::input_file::InputFile;
use super::input_kind::InputKind;
use super::input_source::{InputSource, SheetChoice, WorkbookSheets};
use super::text_reader::InputEncoding;

/// Longest cell of an outline, in characters. A longer one is cut and ends in `…`.
const CELL_CHARS: usize = 1_000;
/// Upper bound on the names of columns. A first row may be no header, but a long text.
const NAMES: usize = 1_000;
/// Upper bound on the bytes of all names together.
const NAMES_BYTES: usize = 256 * 1024;
/// Upper bound on the rows.
const ROWS: usize = 3;
/// Upper bound on the cells of a row.
const CELLS: usize = 12;

/// The format, the columns and the first rows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputOutline {
    /// The format of the file.
    pub kind: InputKind,
    /// The encoding of the file.
    pub encoding: InputEncoding,
    /// Format, encoding and sheet, for people.
    pub description: String,
    /// The names of all columns. JSON Lines has those of the first rows.
    pub header: Vec<String>,
    /// The cells of the first rows, each cut to 1,000 characters.
    pub rows: Vec<Vec<String>>,
    /// The sheet that is read, and all sheets of the workbook; none for other files.
    pub sheets: Option<WorkbookSheets>,
}

/// Reads the header and at most this many first rows of a file. Blocks the thread.
///
/// # Errors
/// When the file or one of the rows cannot be read.
pub fn outline(source: InputSource<'_>, rows: usize) -> Result<InputOutline, InputError> {
    let any = WantedColumns(Vec::new());
    let input = InputFile::open(source, &any)?;
    let mut raw = input.rows(&any)?;
    if raw.has_columns().is_none() {
        // the keys of JSON Lines are known once its rows are read
        for _ in 0..rows {
            if raw.next()?.is_none() {
                break;
            }
        }
    }
    let header = raw.columns();
    if raw.has_columns().is_none() {
        raw = input.rows(&any)?;
    }
    let mut cells = Vec::new();
    while cells.len() < rows && raw.next()?.is_some() {
        let row = raw.cells_of_last(&header).into_iter();
        cells.push(row.map(shortened).collect());
    }
    Ok(InputOutline {
        kind: input.kind(),
        encoding: input.encoding(),
        description: input.describe(),
        header,
        rows: cells,
        sheets: input.sheets(),
    })
}

fn shortened(mut cell: String) -> String {
    if let Some((end, _)) = cell.char_indices().nth(CELL_CHARS) {
        cell.truncate(end);
        cell.push('…');
    }
    cell
}

/// What is kept of an outline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptOutline {
    /// Format, encoding and sheet, for people.
    pub description: String,
    /// The number of columns.
    pub columns: usize,
    /// The names of the first columns, at most 1,000.
    pub header: Vec<String>,
    /// The first cells of the first rows: at most three rows of 12 cells.
    pub rows: Vec<Vec<String>>,
    /// The sheet that is read, and the sheets of the workbook; none for other files.
    #[serde(default)]
    pub sheets: Option<WorkbookSheets>,
}

impl KeptOutline {
    /// What is kept of this outline.
    pub fn of(outline: InputOutline) -> Self {
        let columns = outline.header.len();
        let mut left = NAMES_BYTES;
        let names = outline.header.into_iter().take(NAMES);
        let header = names.take_while(|name| match left.checked_sub(name.len()) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        });
        let header = header.collect();
        let mut rows = outline.rows;
        rows.truncate(ROWS);
        for row in &mut rows {
            row.truncate(CELLS);
        }
        let mut sheets = outline.sheets;
        if let Some(sheets) = &mut sheets {
            sheets.names.truncate(NAMES);
        }
        Self {
            description: outline.description,
            columns,
            header,
            rows,
            sheets,
        }
    }

    /// Reads an outline that was stored; `None` if another version of Refract stored it otherwise.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// What is read of a workbook.
    pub fn choice(&self) -> SheetChoice {
        let sheets = self.sheets.as_ref();
        SheetChoice {
            sheet: sheets.map(|sheets| sheets.read.clone()),
            skips_hidden_rows: sheets.is_some_and(|sheets| sheets.skips_hidden_rows),
        }
    }

    /// The outline as it is stored.
    pub fn to_text(&self) -> String {
        // texts and numbers always have a JSON form
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::input_source::StoredInput;
    use crate::input::{InputEncoding, InputKind};

    fn of(name: &str, bytes: &[u8]) -> Result<InputOutline, String> {
        let stored = StoredInput::of_bytes(name, bytes);
        outline(InputSource::Stored(stored), 2).map_err(|error| error.to_string())
    }

    #[test]
    fn an_outline_has_the_first_rows_of_a_file() {
        let found = of(
            "a.csv",
            b"Nummer;Text\r\n1;\"sch\xf6n\r\n\"\r\n2;b\r\n3;c\r\n",
        )
        .unwrap();
        assert_eq!(found.kind, InputKind::Csv { separator: b';' });
        assert_eq!(found.encoding, InputEncoding::Windows1252);
        assert_eq!(
            found.description,
            "CSV with semicolons, read as Windows-1252"
        );
        assert_eq!(found.header, ["Nummer", "Text"]);
        assert_eq!(found.rows, [["1", "schön\r\n"], ["2", "b"]]);
        let json = b"{\"a\":1}\n{\"b\":[2]}\n{\"c\":3}";
        let found = of("a.jsonl", json).unwrap();
        assert_eq!(found.header, ["a", "b"]);
        assert_eq!(found.rows, [["1", ""], ["", "[2]"]]);
        let long = format!("text\n{}", "ä".repeat(1_001));
        let found = of("a", long.as_bytes()).unwrap();
        assert_eq!(found.rows, [[format!("{}…", "ä".repeat(1_000))]]);
        assert_eq!(of("a.csv", b" \n").unwrap_err(), "it is empty");
        let uneven = of("a.csv", b"a,b\n1\n").unwrap_err();
        assert_eq!(uneven, "line 2 has 1 cell, the header has 2");
    }

    #[test]
    fn a_kept_outline_is_bounded_and_comes_back_as_it_was() {
        let of = |header: Vec<String>| {
            KeptOutline::of(InputOutline {
                kind: InputKind::Tsv { is_quoted: false },
                encoding: InputEncoding::Utf8,
                description: "TSV".to_owned(),
                rows: vec![header.clone(); 20],
                sheets: None,
                header,
            })
        };
        let small = of(vec!["a\0\"".to_owned(); 2]);
        assert_eq!(KeptOutline::parse(&small.to_text()), Some(small.clone()));
        assert_eq!(
            (small.columns, small.header.len(), small.rows.len()),
            (2, 2, 3)
        );
        let wide = of(vec!["a".to_owned(); 16_384]);
        assert_eq!((wide.columns, wide.header.len()), (16_384, 1_000));
        assert_eq!(wide.rows[0].len(), 12);
        let long = of(vec!["a".repeat(200 * 1024); 3]);
        assert_eq!((long.columns, long.header.len()), (3, 1));
        assert_eq!(KeptOutline::parse("{}"), None);
    }
}
