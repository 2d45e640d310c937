//! The file of a run as rows, read line by line however large it is.
//!
//! CSV with commas, semicolons or tabs, TSV and JSON Lines. It knows how files are written and
//! which of their columns are wanted, and nothing of prisms, models or results.

mod bounded;
mod columns;
mod csv_rows;
mod fault;
mod file;
mod json_rows;
mod kind;
#[cfg(test)]
mod tests;

pub(crate) use self::columns::{Wanted, WantedColumn, listed};
pub use self::fault::InputFault;
pub use self::file::InputFile;
pub(crate) use self::file::RawRows;
pub use self::kind::InputKind;

/// A row of more bytes is a quote that was never closed.
const ROW_BYTES: u64 = 16 * 1024 * 1024;

/// One row: where it stands, and its wanted values in the order of [`Wanted`].
#[derive(Debug)]
pub(crate) struct RawRow {
    /// Line of its beginning, from 1.
    pub(crate) line: u64,
    /// A value for each wanted column.
    pub(crate) values: Vec<RawValue>,
}

/// What stands in a wanted column.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RawValue {
    /// Nothing: JSON without the key, or null.
    Absent {
        /// It is there, as null.
        is_null: bool,
    },
    /// Text.
    Text {
        /// The characters.
        text: String,
        /// Whether an unpaired surrogate was among them.
        has_unpaired_surrogate: bool,
    },
    /// JSON of this type, which is no text.
    NoText(&'static str),
}
