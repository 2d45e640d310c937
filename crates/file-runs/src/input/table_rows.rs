//! Reads the rows of a table with a header: of CSV, TSV, the sheet of a workbook or Parquet.

use std::collections::HashMap;

use csv::ByteRecord;

use super::column_mapping::{PlacedColumns, WantedColumns, nameless_column};
use super::csv_records::CsvRecords;
use super::input_error::InputError;
use super::input_kind::header_name;
use super::parquet_file::ParquetRecords;
use super::raw_row::{CUT_MARK, OddCell, OddCells, RawRow, RawValue};
use super::text_reader::InputEncoding;
use super::workbook::SheetRecords;

/// Number of rows below the first one that are searched for the header, once the first one is none.
const SEARCHED_ROWS: usize = 10;
/// The column that only rows of results have: their cells are guarded against formulas.
const OWN_COLUMN: &str = "result_id";
/// Beginnings of cells that a spreadsheet would calculate: where results are written as CSV or TSV, a
/// single quote stands before them (spec 4.0).
const FORMULA_BEGINNINGS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// The rows of a table.
pub(crate) struct TableRows {
    records: TableRecords,
    encoding: InputEncoding,
    record: ByteRecord,
    header: Vec<String>,
    placed: PlacedColumns,
    /// Whether the rows are results that were written as CSV or TSV.
    are_guarded: bool,
    odd_cells: OddCells,
}

/// The records of a table, of which the first is the header.
pub(crate) enum TableRecords {
    /// Those of a CSV or TSV file.
    Csv(Box<CsvRecords>),
    /// Those of the sheet of a workbook.
    Sheet(SheetRecords),
    /// Those of a Parquet file.
    Parquet(Box<ParquetRecords>),
}

impl TableRecords {
    /// Reads the next record and returns its first line; `None` after the last.
    fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>, InputError> {
        match self {
            Self::Csv(records) => records.next(record),
            Self::Sheet(records) => records.next(record),
            Self::Parquet(records) => records.next(record),
        }
    }

    /// The JSON type of a column's values if no cell holds them, as lists and structs of Parquet.
    fn nested(&self, column: usize) -> Option<&'static str> {
        match self {
            Self::Csv(_) | Self::Sheet(_) => None,
            Self::Parquet(records) => records.nested(column),
        }
    }

    /// Whether the record read last is a row that a spreadsheet does not show.
    fn is_hidden(&self) -> bool {
        match self {
            Self::Csv(_) | Self::Parquet(_) => false,
            Self::Sheet(records) => records.is_hidden(),
        }
    }

    /// The odd cells of the record read last, with their columns.
    fn odd_cells(&self) -> &[(usize, OddCell)] {
        match self {
            Self::Csv(_) | Self::Parquet(_) => &[],
            Self::Sheet(records) => records.odd_cells(),
        }
    }
}

impl TableRows {
    /// Reads the header and finds the wanted columns in it.
    pub(crate) fn begin(
        records: TableRecords,
        encoding: InputEncoding,
        wanted: &WantedColumns,
    ) -> Result<Self, InputError> {
        let mut rows = Self {
            records,
            encoding,
            record: ByteRecord::new(),
            header: Vec::new(),
            placed: PlacedColumns {
                positions: Vec::new(),
                unused: Vec::new(),
            },
            are_guarded: false,
            odd_cells: OddCells::default(),
        };
        let Some(line) = rows.records.next(&mut rows.record)? else {
            return Err(InputError::Empty);
        };
        rows.header = numbered_names(names_of(&rows.record));
        let is_text = matches!(rows.records, TableRecords::Csv(_));
        rows.are_guarded = is_text && rows.header.iter().any(|name| name == OWN_COLUMN);
        match wanted.place(&rows.header) {
            Ok(placed) => rows.placed = placed,
            Err(error) => return Err(rows.header_below(line, wanted).unwrap_or(error)),
        }
        Ok(rows)
    }

    /// The error of a table whose header stands below other rows, such as a title.
    fn header_below(&mut self, first: u64, wanted: &WantedColumns) -> Option<InputError> {
        let is_any_required = wanted.0.iter().any(|column| column.is_required);
        for _ in 0..SEARCHED_ROWS {
            let header = self.records.next(&mut self.record).ok()??;
            if is_any_required && wanted.place(&names_of(&self.record)).is_ok() {
                return Some(InputError::HeaderBelow { first, header });
            }
        }
        None
    }

    /// The names of all columns. A sheet's may be found in any row.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// This many cells of the row read last.
    pub(crate) fn cells_of_last(&self, columns: usize) -> Vec<String> {
        let cells = self.record.iter().map(|cell| {
            let cell = String::from_utf8_lossy(cell);
            self.unguarded(&cell).to_owned()
        });
        // a row may end in empty cells that the header has not, or lack cells of columns without a name
        let padded = cells.chain(std::iter::repeat(String::new()));
        padded.take(columns).collect()
    }

    /// Names of the columns that are not wanted.
    pub(crate) fn unused_columns(&self) -> &[String] {
        &self.placed.unused
    }

    /// The first wanted column whose values no cell holds, and their JSON type.
    pub(crate) fn nested_column(&self) -> Option<(&str, &'static str)> {
        let mut placed = self.placed.positions.iter().flatten();
        placed.find_map(|place| {
            let received = self.records.nested(*place)?;
            Some((self.header.get(*place)?.as_str(), received))
        })
    }

    /// The columns that are not wanted and whose values no cell holds.
    pub(crate) fn unused_nested(&self) -> Vec<String> {
        let columns = self.header.iter().enumerate();
        let nested = columns.filter(|(place, _)| {
            self.records.nested(*place).is_some() && !self.placed.positions.contains(&Some(*place))
        });
        nested.map(|(_, name)| name.clone()).collect()
    }

    /// For each wanted column, whether the header has it.
    pub(crate) fn has_columns(&self) -> Vec<bool> {
        self.placed.positions.iter().map(Option::is_some).collect()
    }

    /// What was odd about the wanted cells of the rows so far.
    pub(crate) fn odd_cells(&self) -> OddCells {
        self.odd_cells
    }

    /// The next row; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<RawRow>, InputError> {
        let Some(line) = self.records.next(&mut self.record)? else {
            return Ok(None);
        };
        let mark = self.record.get(self.header.len()).unwrap_or_default();
        if mark.starts_with(CUT_MARK.as_bytes()) {
            return Err(InputError::CutOff { line });
        }
        self.add_columns_of_sheet();
        if !self.has_cells_of_header() {
            let is_late =
                |cell: &[u8]| cell.starts_with(b" ") && cell.trim_ascii_start().starts_with(b"\"");
            return Err(InputError::WrongCells {
                line,
                found: self.record.len(),
                expected: self.header.len(),
                has_late_quote: self.record.iter().any(is_late),
            });
        }
        self.count_odd_cells();
        let encoding = self.encoding;
        let positions = self.placed.positions.iter();
        let values = positions.map(|position| match position {
            None => Ok(RawValue::Absent { is_null: false }),
            Some(position) => {
                if let Some(received) = self.records.nested(*position) {
                    return Ok(RawValue::NoText(received));
                }
                let cell = self.record.get(*position).unwrap_or_default();
                let text = std::str::from_utf8(cell);
                let text = text.map_err(|_| InputError::NotText { line, encoding })?;
                let text = if self.is_error(*position) { "" } else { text };
                Ok(RawValue::Text {
                    text: self.unguarded(text).to_owned(),
                    has_unpaired_surrogate: false,
                })
            }
        });
        let values = values.collect::<Result<_, InputError>>()?;
        Ok(Some(RawRow { line, values }))
    }

    /// Adds columns without a name for cells to the right of a sheet's header, such as those below a
    /// merged cell: a CSV file that a spreadsheet saves has them too.
    fn add_columns_of_sheet(&mut self) {
        if matches!(self.records, TableRecords::Sheet(_)) {
            for place in self.header.len()..self.record.len() {
                self.header.push(String::new());
                self.placed.unused.push(nameless_column(place));
            }
        }
    }

    /// Whether the row read last has a cell for each name of the header. Programs that end each line
    /// with a separator write empty cells without a name, in all lines or only in some.
    fn has_cells_of_header(&self) -> bool {
        let (found, expected) = (self.record.len(), self.header.len());
        let mut further = self.record.iter().skip(expected);
        let mut lacking = self.header.iter().skip(found);
        further.all(|cell| cell.trim_ascii().is_empty()) && lacking.all(String::is_empty)
    }

    fn is_error(&self, column: usize) -> bool {
        let odd = self.records.odd_cells().iter();
        odd.copied().any(|odd| odd == (column, OddCell::Error))
    }

    fn count_odd_cells(&mut self) {
        self.odd_cells.hidden_rows += u64::from(self.records.is_hidden());
        if matches!(self.records, TableRecords::Parquet(_)) {
            let cells = self.record.iter();
            let not_text = cells.filter(|cell| std::str::from_utf8(cell).is_err());
            self.odd_cells.not_text += u64::try_from(not_text.count()).unwrap_or(u64::MAX);
        }
        for (column, odd) in self.records.odd_cells() {
            if self.placed.positions.contains(&Some(*column)) {
                match odd {
                    OddCell::Error => self.odd_cells.errors += 1,
                    OddCell::Uncalculated => self.odd_cells.uncalculated += 1,
                    OddCell::Inexact => self.odd_cells.inexact += 1,
                }
            }
        }
    }

    /// A cell without the quote that the writer of results put before it.
    fn unguarded<'a>(&self, cell: &'a str) -> &'a str {
        let guarded = cell.strip_prefix('\'').filter(|_| self.are_guarded);
        let guarded = guarded.filter(|text| text.starts_with(FORMULA_BEGINNINGS));
        guarded.unwrap_or(cell)
    }
}

/// Whether a tab-separated text begins with the header of results, which are written without quotes
/// around cells.
pub(crate) fn is_own_header(start: &[u8]) -> bool {
    let header = start.split(|byte| *byte == b'\n').next();
    let mut names = header.unwrap_or_default().split(|byte| *byte == b'\t');
    names.any(|name| header_name(name) == OWN_COLUMN)
}

/// The names of columns, of which those that occur several times get their number: `a (1)`, `a (2)`.
fn numbered_names(names: Vec<String>) -> Vec<String> {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for name in &names {
        *counts.entry(name.clone()).or_default() += 1;
    }
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let apart = names.into_iter().map(|name| {
        if name.is_empty() || counts.get(&name) == Some(&1) {
            return name;
        }
        let number = numbers.entry(name.clone()).or_default();
        loop {
            *number += 1;
            let numbered = format!("{name} ({number})");
            // a column may have this very name
            if !counts.contains_key(&numbered) {
                return numbered;
            }
        }
    });
    apart.collect()
}

fn names_of(record: &ByteRecord) -> Vec<String> {
    record.iter().map(header_name).collect()
}
