//! Export: every saved result of a prism as rows under one header (contract, `results export`).

use std::io::{self, Write};
use std::sync::Arc;

use refract_lens_rendering::{RowFormat, RowWriter};

use crate::PrismResults;
use crate::refusal::InternalError;

/// An export broke off.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The results could not be read.
    #[error(transparent)]
    Read(#[from] InternalError),
    /// The rows could not be written.
    #[error("cannot write the rows")]
    Write(#[from] io::Error),
}

/// Writes results as rows under one header; each row is the API's row of that result. `progress`
/// hears how many are written by now. Returns how many there were.
///
/// Only a page of results is in memory at a time.
///
/// # Errors
/// When the results cannot be read or `out` cannot be written to; what was written until then
/// stays written.
pub async fn export(
    results: &mut PrismResults,
    format: RowFormat,
    out: impl Write,
    mut progress: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let lens = Arc::clone(results.lens());
    let mut rows = RowWriter::new(format, lens.columns(), out);
    rows.write_header()?;
    let mut written = 0;
    loop {
        let page = results.next_page().await?;
        if page.is_empty() {
            rows.finish()?;
            return Ok(written);
        }
        for result in page {
            rows.write_row(&result.view())?;
            written += 1;
        }
        progress(written);
    }
}
