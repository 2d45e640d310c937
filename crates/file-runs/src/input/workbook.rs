//! Excel workbooks (.xlsx): a sheet as records, each cell as text. Unless one is named, it is the
//! first visible one.

mod cell_text;
mod parts;
mod records;
mod source;

use self::records::ReadSheet;
pub(crate) use self::records::SheetRecords;
use self::source::WorkbookSource;
use super::column_mapping::listed;
use super::input_error::InputError;
use super::input_source::InputBytes;

/// A workbook that can be read.
pub(crate) struct Workbook {
    source: WorkbookSource,
    sheet: ReadSheet,
}

impl Workbook {
    /// Checks the limits of a workbook and finds the sheet.
    pub(crate) fn open(bytes: InputBytes, sheet: Option<String>) -> Result<Self, InputError> {
        let source = WorkbookSource::check(bytes, sheet)?;
        let (sheet, _) = SheetRecords::begin(&source)?;
        Ok(Self { source, sheet })
    }

    /// The sheet for people.
    pub(crate) fn describe(&self) -> String {
        let name = listed(std::slice::from_ref(&self.sheet.name));
        let hidden = if self.sheet.is_hidden { "hidden " } else { "" };
        match self.sheet.names.len() {
            0 | 1 => format!("Excel workbook, {hidden}sheet {name}"),
            sheets => format!("Excel workbook, only {hidden}sheet {name} of {sheets}"),
        }
    }

    /// The sheet that is read, and the names of all sheets.
    pub(crate) fn sheets(&self) -> (&str, &[String]) {
        (&self.sheet.name, &self.sheet.names)
    }

    /// Starts to read the sheet.
    pub(crate) fn records(&self) -> Result<SheetRecords, InputError> {
        let (_, records) = SheetRecords::begin(&self.source)?;
        Ok(records)
    }
}

#[cfg(test)]
mod tests;
