//! Reads the file of a run as rows, line by line, at any size.
//!
//! Formats are CSV with any separator, TSV, JSON Lines, JSON, Excel workbooks and Parquet. This
//! module knows the formats and the wanted columns, and nothing of prisms, models or results.

mod column_mapping;
mod csv_records;
mod input_error;
mod input_file;
mod input_kind;
mod input_outline;
mod input_source;
mod json_rows;
mod json_values;
#[cfg(not(all(feature = "parquet", feature = "workbooks")))]
mod not_built;
#[cfg(feature = "parquet")]
mod parquet_file;
mod quotes;
mod raw_row;
mod row;
mod rows;
mod table_rows;
mod text_reader;
#[cfg(feature = "workbooks")]
mod workbook;
mod workbook_budget;

#[cfg(not(feature = "parquet"))]
use not_built::parquet as parquet_file;
#[cfg(not(feature = "workbooks"))]
use not_built::workbooks as workbook;

pub(crate) use self::column_mapping::{
    CONTEXT, REF, WantedColumn, WantedColumns, listed, nameless_column,
};
pub use self::column_mapping::{ColumnMapping, InputColumns, MappingError, suggest_columns};
pub use self::input_error::InputError;
pub use self::input_file::InputFile;
pub(crate) use self::input_file::RawRows;
pub use self::input_kind::{InputKind, binary_kind};
pub use self::input_outline::{InputOutline, KeptOutline, outline};
pub use self::input_source::{
    InputSource, SheetChoice, StoredContent, StoredInput, WorkbookSheets,
};
pub use self::quotes::QuoteError;
#[cfg(feature = "workbooks")]
pub(crate) use self::raw_row::CUT_MARK;
pub use self::raw_row::OddCells;
pub(crate) use self::raw_row::{RawRow, RawValue};
pub(crate) use self::row::{InputRow, RowContent};
pub(crate) use self::rows::{InputRows, KeptCells};
pub use self::text_reader::InputEncoding;
pub use self::workbook_budget::{WorkbookBudget, WorkbookError};

#[cfg(test)]
mod tests;
