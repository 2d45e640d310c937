//! Reads the rows of a table with a header: of CSV, TSV or the sheet of a workbook.

use csv::ByteRecord;

use super::csv_records::CsvRecords;
use super::input_encoding::InputEncoding;
use super::input_error::InputError;
use super::input_kind::header_name;
use super::raw_row::{RawRow, RawValue};
use super::wanted_columns::{PlacedColumns, WantedColumns};
use super::workbook::SheetRecords;

/// The rows of a table.
pub(crate) struct TableRows {
    records: TableRecords,
    encoding: InputEncoding,
    record: ByteRecord,
    header: Vec<String>,
    placed: PlacedColumns,
}

/// The records of a table, of which the first is the header.
pub(crate) enum TableRecords {
    /// Those of a CSV or TSV file.
    Csv(Box<CsvRecords>),
    /// Those of the sheet of a workbook.
    Sheet(SheetRecords),
}

impl TableRecords {
    /// Reads the next record and returns its first line; `None` after the last.
    fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>, InputError> {
        match self {
            Self::Csv(records) => records.next(record),
            Self::Sheet(records) => records.next(record),
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
        };
        if rows.records.next(&mut rows.record)?.is_none() {
            return Err(InputError::Empty);
        }
        rows.header = rows.record.iter().map(header_name).collect();
        rows.placed = wanted.place(&rows.header)?;
        Ok(rows)
    }

    /// The names of all columns.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// The cells of the row read last.
    pub(crate) fn cells_of_last(&self) -> Vec<String> {
        let cells = self.record.iter();
        let cells = cells.map(|cell| String::from_utf8_lossy(cell).into_owned());
        cells.collect()
    }

    /// Names of the columns that are not wanted.
    pub(crate) fn unused_columns(&self) -> &[String] {
        &self.placed.unused
    }

    /// For each wanted column, whether the header has it.
    pub(crate) fn has_columns(&self) -> Vec<bool> {
        self.placed.positions.iter().map(Option::is_some).collect()
    }

    /// The next row; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<RawRow>, InputError> {
        let Some(line) = self.records.next(&mut self.record)? else {
            return Ok(None);
        };
        let found = self.record.len();
        let expected = self.header.len();
        if found != expected {
            return Err(InputError::WrongCells {
                line,
                found,
                expected,
            });
        }
        let encoding = self.encoding;
        let positions = self.placed.positions.iter();
        let values = positions.map(|position| match position {
            None => Ok(RawValue::Absent { is_null: false }),
            Some(position) => {
                let cell = self.record.get(*position).unwrap_or_default();
                let text = std::str::from_utf8(cell);
                let text = text.map_err(|_| InputError::NotText { line, encoding })?;
                Ok(RawValue::Text {
                    text: text.to_owned(),
                    has_unpaired_surrogate: false,
                })
            }
        });
        let values = values.collect::<Result<_, InputError>>()?;
        Ok(Some(RawRow { line, values }))
    }
}
