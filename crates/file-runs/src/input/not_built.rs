//! The readers of formats that this build leaves out: they refuse every file.

#[cfg(not(feature = "parquet"))]
pub(super) mod parquet {
    use std::convert::Infallible;

    use csv::ByteRecord;

    use crate::input::input_error::InputError;
    use crate::input::input_source::InputBytes;

    /// A Parquet file, which is never opened.
    pub(crate) struct ParquetFile(Infallible);

    /// The rows of a Parquet file, which are never read.
    pub(crate) struct ParquetRecords(Infallible);

    impl ParquetFile {
        pub(crate) fn open(_bytes: InputBytes) -> Result<Self, InputError> {
            Err(InputError::NotBuilt("Parquet"))
        }

        pub(crate) fn records(&self) -> ParquetRecords {
            match self.0 {}
        }
    }

    impl ParquetRecords {
        pub(crate) fn nested(&self, _column: usize) -> Option<&'static str> {
            match self.0 {}
        }

        pub(crate) fn next(&mut self, _record: &mut ByteRecord) -> Result<Option<u64>, InputError> {
            match self.0 {}
        }
    }
}

#[cfg(not(feature = "workbooks"))]
pub(super) mod workbooks {
    use std::convert::Infallible;

    use csv::ByteRecord;

    use crate::input::input_error::InputError;
    use crate::input::input_source::{InputBytes, SheetChoice, WorkbookSheets};
    use crate::input::raw_row::OddCell;

    /// A workbook, which is never opened.
    pub(crate) struct Workbook(Infallible);

    /// The rows of a sheet, which are never read.
    pub(crate) struct SheetRecords(Infallible);

    impl Workbook {
        pub(crate) fn open(_bytes: InputBytes, _choice: SheetChoice) -> Result<Self, InputError> {
            Err(InputError::NotBuilt("Excel workbooks"))
        }

        pub(crate) fn describe(&self) -> String {
            match self.0 {}
        }

        pub(crate) fn sheets(&self) -> WorkbookSheets {
            match self.0 {}
        }

        pub(crate) fn records(&self) -> Result<SheetRecords, InputError> {
            match self.0 {}
        }

        pub(crate) fn empty(&self) -> InputError {
            match self.0 {}
        }
    }

    impl SheetRecords {
        pub(crate) fn next(&mut self, _record: &mut ByteRecord) -> Result<Option<u64>, InputError> {
            match self.0 {}
        }

        pub(crate) fn is_hidden(&self) -> bool {
            match self.0 {}
        }

        pub(crate) fn odd_cells(&self) -> &[(usize, OddCell)] {
            match self.0 {}
        }
    }
}
