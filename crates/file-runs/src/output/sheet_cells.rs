//! The columns and cells of a workbook's sheet.

use chrono::{DateTime, Utc};

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SheetColumn {
    /// Short texts.
    Text,
    /// Texts of any length.
    LongText,
    Number,
    Moment,
}

/// The value of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SheetCell<'a> {
    Empty,
    Text(&'a str),
    Number(f64),
    Moment(DateTime<Utc>),
}
