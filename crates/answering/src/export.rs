//! Export: the saved results of a prism as rows under one header.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use refract_lens_rendering::{RowFormat, RowWriter};

use crate::marks::MarkedColumns;
use crate::prism_results::PrismResults;
use crate::refusal::InternalError;

/// Why an export ended before its last row.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Reading the results failed.
    #[error(transparent)]
    Read(#[from] InternalError),
    /// Writing the rows failed.
    #[error("cannot write the rows")]
    Write(#[from] io::Error),
}

/// Writes results as rows under one header and returns the number of rows. Each row is the row that
/// the API gives for the result, with what the columns of marks show after it. `progress` is told
/// the number of rows written after each page.
///
/// One page of results is in memory at a time.
///
/// # Errors
/// When the results cannot be read or `out` cannot be written to. Rows that are written stay
/// written.
pub async fn export(
    results: &mut PrismResults,
    format: RowFormat,
    marked: &MarkedColumns,
    out: impl Write,
    mut progress: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let lens = Arc::clone(results.lens());
    let mut rows = RowWriter::new(format, lens.columns(), out).with_marks(marked.names());
    rows.write_header()?;
    let mut written = 0;
    loop {
        let page = results.next_page().await?;
        if page.is_empty() {
            rows.finish()?;
            return Ok(written);
        }
        let marks = if marked.names().is_empty() {
            HashMap::new()
        } else {
            results.list_marks(&page).await?
        };
        for result in page {
            let view = result.view();
            let marks = marks.get(&view.id).map_or(&[][..], Vec::as_slice);
            rows.write_marked_row(&view, marked.values(&view, marks))?;
            written += 1;
        }
        progress(written);
    }
}
