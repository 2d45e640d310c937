//! The writers of formats that this build leaves out: they refuse to begin.

use std::io;

/// The error of a format that is left out.
fn left_out(what: &str) -> io::Error {
    let error = format!(
        "this refract was built to try it and writes no {what}: use the one of `make build`, or write \
         csv, tsv or jsonl"
    );
    io::Error::new(io::ErrorKind::Unsupported, error)
}

#[cfg(not(feature = "parquet"))]
pub(crate) mod parquet {
    use std::convert::Infallible;
    use std::io;

    use refract_domain::result::{ResultView, RowColumns};
    use refract_lens_rendering::{FurtherColumn, FurtherValue, RefusedRowView};

    /// Rows of a Parquet file, which never begin.
    pub struct ParquetRows(Infallible);

    impl ParquetRows {
        /// Refuses.
        ///
        /// # Errors
        /// Always.
        pub fn new(
            _columns: RowColumns<'_>,
            _own: Option<&[String]>,
            _further: &[FurtherColumn],
        ) -> io::Result<Self> {
            Err(super::left_out("Parquet"))
        }

        /// Never called.
        ///
        /// # Errors
        /// Never.
        pub fn write<'v>(
            &mut self,
            _cells: &[String],
            _result: &ResultView<'v>,
            _further: impl IntoIterator<Item = FurtherValue<'v>>,
        ) -> io::Result<Vec<u8>> {
            match self.0 {}
        }

        /// Never called.
        ///
        /// # Errors
        /// Never.
        pub fn write_refused(
            &mut self,
            _cells: &[String],
            _row: &RefusedRowView<'_>,
        ) -> io::Result<Vec<u8>> {
            match self.0 {}
        }

        /// Never called.
        ///
        /// # Errors
        /// Never.
        pub fn finish(self) -> io::Result<Vec<u8>> {
            match self.0 {}
        }
    }
}

#[cfg(not(feature = "workbooks"))]
pub(super) mod workbooks {
    use std::convert::Infallible;
    use std::io;

    use crate::output::row_cells::{SheetCell, SheetColumn};

    /// A workbook, which never begins.
    pub(in crate::output) struct WorkbookWriter(Infallible);

    impl WorkbookWriter {
        pub(in crate::output) fn new(
            _sheet: &str,
            _columns: &[(String, SheetColumn)],
        ) -> io::Result<Self> {
            Err(super::left_out("Excel workbooks"))
        }

        pub(in crate::output) fn write_row<'c>(
            &mut self,
            _cells: impl IntoIterator<Item = SheetCell<'c>>,
        ) -> io::Result<Vec<u8>> {
            match self.0 {}
        }

        pub(in crate::output) fn cut_texts(&self) -> u64 {
            match self.0 {}
        }

        pub(in crate::output) fn finish(self) -> io::Result<Vec<u8>> {
            match self.0 {}
        }
    }
}
