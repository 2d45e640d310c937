//! One row of a file before its values are checked.

/// Upper bound on the bytes of a row. A longer row most likely has an unclosed quote.
pub(crate) const ROW_BYTES: u64 = 16 * 1024 * 1024;

/// The beginning of the mark of a row of a workbook with texts that were cut, in the column after the
/// last.
pub(crate) const CUT_MARK: &str = "cut off: ";

/// One row of a file.
#[derive(Debug)]
pub(crate) struct RawRow {
    /// The line on which the row begins, from 1.
    pub(crate) line: u64,
    /// A value for each of the [wanted columns](super::WantedColumns), in their order.
    pub(crate) values: Vec<RawValue>,
}

/// Counts of what is odd about the rows and cells of a workbook or Parquet file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OddCells {
    /// Cells with an error, such as `#N/A`: they are read as empty.
    pub errors: u64,
    /// Formulas that no program has calculated: they are empty.
    pub uncalculated: u64,
    /// Whole numbers above 2^53, of which the file has only the first digits.
    pub inexact: u64,
    /// Cells of Parquet in columns that the run does not read, with bytes that are not UTF-8: where they
    /// are kept, U+FFFD stands in place of these bytes.
    pub not_text: u64,
    /// Rows that a spreadsheet does not show: hidden, or left out by a filter.
    pub hidden_rows: u64,
}

/// What is odd about a cell of a workbook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OddCell {
    /// It holds an error, such as `#N/A`.
    Error,
    /// Its formula has no stored value: the program that wrote it calculates none.
    Uncalculated,
    /// It holds a whole number above 2^53, where the file has only the first digits.
    Inexact,
}

/// A row's value in a wanted column.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RawValue {
    /// No value: the file lacks the column, or JSON lacks the key or has null.
    Absent {
        /// Whether the value is JSON null.
        is_null: bool,
    },
    /// Text.
    Text {
        /// The characters.
        text: String,
        /// Whether the text had an unpaired surrogate, which `text` replaces by U+FFFD.
        has_unpaired_surrogate: bool,
    },
    /// A number or a boolean in JSON.
    Scalar {
        /// The value as written in the file.
        text: String,
        /// The name of the JSON type.
        type_name: &'static str,
    },
    /// A list or an object in JSON or Parquet, with the JSON type's name.
    NoText(&'static str),
}

impl RawValue {
    /// The value of a column that names something. Numbers and booleans become text, since other
    /// programs write ids as numbers.
    pub(crate) fn naming(self) -> Self {
        match self {
            Self::Scalar { text, .. } => Self::Text {
                text,
                has_unpaired_surrogate: false,
            },
            Self::Absent { .. } | Self::Text { .. } | Self::NoText(_) => self,
        }
    }
}
