//! Errors of workbooks.

/// Why a workbook cannot be read. The text repeats no cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkbookError {
    /// The file is too large.
    #[error("it has over 32 MiB, too many for a workbook: save the table as CSV in UTF-8")]
    TooLarge,
    /// The parts of the file are too large once they are unpacked.
    #[error("it unpacks to over 256 MiB, too many for a workbook: save the table as CSV in UTF-8")]
    UnpacksTooLarge,
    /// The table of texts is too large: it is kept in memory.
    #[error("its texts have over 32 MiB, too many for a workbook: save the table as CSV in UTF-8")]
    TextsTooLarge,
    /// A part that has no rows is too large: the reader keeps far more than its bytes.
    #[error(
        "its styles, names or relations have over 1 MiB, too many for a workbook: save the table as \
         CSV in UTF-8"
    )]
    PartTooLarge,
    /// Other workbooks are being read, and this one waited too long.
    #[error("other workbooks are being read: try again in a minute")]
    Busy,
    /// The file is a ZIP archive of another kind.
    #[error("it is a ZIP archive and no Excel workbook (.xlsx): save the table as CSV in UTF-8")]
    NoWorkbook,
    /// The workbook has no visible sheet of cells.
    #[error("the workbook has no visible sheet with cells")]
    NoSheet,
    /// The workbook is damaged.
    #[error("the workbook is damaged: save the table as CSV in UTF-8")]
    Damaged,
    /// A row is longer than 16 MiB.
    #[error("row {row} of the sheet has over 16 MiB")]
    LongRow {
        /// The row's number in the sheet.
        row: u64,
    },
}
