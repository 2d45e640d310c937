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
use super::input_source::{InputBytes, SheetChoice, WorkbookSheets};

/// A workbook that can be read.
pub(crate) struct Workbook {
    source: WorkbookSource,
    sheet: ReadSheet,
}

impl Workbook {
    /// Checks the limits of a workbook and finds the sheet.
    pub(crate) fn open(bytes: InputBytes, choice: SheetChoice) -> Result<Self, InputError> {
        let mut source = WorkbookSource::check(bytes, choice)?;
        let (sheet, _) = SheetRecords::begin(&source)?;
        source.find_hidden_rows(&sheet.name)?;
        Ok(Self { source, sheet })
    }

    /// The sheet for people.
    pub(crate) fn describe(&self) -> String {
        let name = listed(std::slice::from_ref(&self.sheet.name));
        let hidden = if self.sheet.is_hidden { "hidden " } else { "" };
        let rows = match self.source.hidden_rows.len() {
            1.. if self.source.choice.skips_hidden_rows => " without its hidden rows",
            _ => "",
        };
        match self.sheet.names.len() {
            0 | 1 => format!("Excel workbook, {hidden}sheet {name}{rows}"),
            sheets => format!("Excel workbook, only {hidden}sheet {name} of {sheets}{rows}"),
        }
    }

    /// The sheet that is read, and the names of all sheets.
    pub(crate) fn sheets(&self) -> WorkbookSheets {
        let rows = self.source.hidden_rows.len();
        WorkbookSheets {
            read: self.sheet.name.clone(),
            names: self.sheet.names.clone(),
            hidden_rows: u64::try_from(rows).unwrap_or(u64::MAX),
            skips_hidden_rows: self.source.choice.skips_hidden_rows,
        }
    }

    /// The error of an empty sheet, which names the others.
    pub(crate) fn empty(&self) -> InputError {
        let (read, names) = (&self.sheet.name, &self.sheet.names);
        let others = names.iter().filter(|name| *name != read);
        let others: Vec<_> = others.cloned().collect();
        if others.is_empty() {
            return InputError::Empty;
        }
        InputError::EmptySheet {
            sheet: listed(std::slice::from_ref(read)),
            others: listed(&others),
        }
    }

    /// Starts to read the sheet.
    pub(crate) fn records(&self) -> Result<SheetRecords, InputError> {
        let (_, records) = SheetRecords::begin(&self.source)?;
        Ok(records)
    }
}

#[cfg(test)]
mod tests;
