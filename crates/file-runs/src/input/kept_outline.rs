//! The part of an outline that is stored with an upload, so that a page shows it without the file.

use serde::{Deserialize, Serialize};

use super::input_outline::InputOutline;

/// Upper bound on the names of columns. A first row may be no header, but a long text.
const NAMES: usize = 1_000;
/// Upper bound on the bytes of all names together.
const NAMES_BYTES: usize = 256 * 1024;
/// Upper bound on the rows.
const ROWS: usize = 3;
/// Upper bound on the cells of a row.
const CELLS: usize = 12;

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
        Self {
            description: outline.description,
            columns,
            header,
            rows,
        }
    }

    /// Reads an outline that was stored; `None` if another version of Refract stored it otherwise.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
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
    use crate::input::{InputEncoding, InputKind};

    #[test]
    fn a_kept_outline_is_bounded_and_comes_back_as_it_was() {
        let of = |header: Vec<String>| {
            KeptOutline::of(InputOutline {
                kind: InputKind::Tsv { is_quoted: false },
                encoding: InputEncoding::Utf8,
                description: "TSV".to_owned(),
                rows: vec![header.clone(); 20],
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
