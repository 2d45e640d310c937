//! Excel workbooks (.xlsx): the first visible sheet as records, each cell as text.

mod cell_text;
mod parts;
mod records;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::sync::Arc;

pub(crate) use self::cell_text::OddCell;
use self::records::ReadSheet;
pub(crate) use self::records::SheetRecords;
use super::input_error::InputError;
use super::wanted_columns::listed;
use super::workbook_error::WorkbookError;

/// Upper bound on the bytes of a workbook, which is kept in memory while it is open.
const FILE_BYTES: usize = 32 * 1024 * 1024;
/// The first bytes of a ZIP archive, which a workbook is.
const ZIP: &[u8] = b"PK\x03\x04";

/// An open workbook.
pub(crate) struct Workbook {
    bytes: Arc<[u8]>,
    sheet: ReadSheet,
}

impl Workbook {
    /// Whether a file with these first bytes may be a workbook.
    pub(crate) fn begins(start: &[u8]) -> bool {
        start.starts_with(ZIP)
    }

    /// Reads the bytes of a workbook, checks its limits and finds the sheet.
    pub(crate) fn open(bytes: Box<dyn Read + Send>) -> Result<Self, InputError> {
        let limit = u64::try_from(FILE_BYTES).unwrap_or(u64::MAX);
        let mut read = Vec::new();
        let reading = bytes.take(limit.saturating_add(1)).read_to_end(&mut read);
        reading.map_err(InputError::Unopened)?;
        if read.len() > FILE_BYTES {
            return Err(WorkbookError::TooLarge.into());
        }
        parts::check(&read)?;
        let bytes: Arc<[u8]> = read.into();
        let (sheet, _) = SheetRecords::begin(&bytes)?;
        Ok(Self { bytes, sheet })
    }

    /// The sheet for people.
    pub(crate) fn describe(&self) -> String {
        let name = listed(std::slice::from_ref(&self.sheet.name));
        match self.sheet.sheets {
            0 | 1 => format!("Excel workbook, sheet {name}"),
            sheets => format!("Excel workbook, only sheet {name} of {sheets}"),
        }
    }

    /// Starts to read the sheet.
    pub(crate) fn records(&self) -> Result<SheetRecords, InputError> {
        let (_, records) = SheetRecords::begin(&self.bytes)?;
        Ok(records)
    }
}
