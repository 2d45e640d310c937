//! Export: the saved results of a prism as rows under one header.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::try_unfold;
use refract_domain::lens::Value;
use refract_domain::result::mark::Mark;
use refract_domain::result::view::ResultView;
use refract_lens_rendering::{RowFormat, RowWriter};

use crate::InternalError;
use crate::marks::MarkedColumns;
use crate::people::accounts::AccountActor;
use crate::results::prism_results::PrismResults;
use crate::results::readable_result::ReadableResult;

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

impl PrismResults {
    /// Writes results as rows under one header and returns the number of rows. Each row is the row
    /// that the API gives for the result, followed by the values of the columns of marks.
    /// `progress` gets the number of rows written after each page. An event of the export is saved
    /// before the first byte is written.
    ///
    /// One page of results is in memory at a time.
    ///
    /// # Errors
    /// When the event cannot be saved, the results cannot be read or `out` cannot be written to.
    /// Rows already written stay written.
    pub async fn export(
        &mut self,
        actor: &AccountActor,
        format: RowFormat,
        marked: &MarkedColumns,
        out: impl Write,
        mut progress: impl FnMut(u64),
    ) -> Result<u64, ExportError> {
        self.save_export(actor, format.name()).await?;
        let lens = Arc::clone(self.lens());
        let mut rows = RowWriter::new(format, lens.columns(), out).with_marks(marked.names());
        rows.write_header()?;
        let mut written = 0;
        loop {
            let page = self.next_page().await?;
            if page.is_empty() {
                rows.finish()?;
                return Ok(written);
            }
            let write = |view: &ResultView<'_>, marks: &[Mark]| {
                rows.write_marked_row(view, marked.values(view, marks))
            };
            written += write_page(self, &page, marked, write).await?;
            progress(written);
        }
    }

    /// Passes each result with the values of its columns of marks to `write`, for a format of the
    /// caller's own. Returns the number of results. An event of the export is saved first.
    ///
    /// # Errors
    /// When the event cannot be saved, the results cannot be read or `write` fails.
    pub async fn export_each(
        &mut self,
        actor: &AccountActor,
        format: &'static str,
        marked: &MarkedColumns,
        mut write: impl FnMut(&ResultView<'_>, Vec<Value<'_>>) -> io::Result<()>,
        mut progress: impl FnMut(u64),
    ) -> Result<u64, ExportError> {
        self.save_export(actor, format).await?;
        let mut written = 0;
        loop {
            let page = self.next_page().await?;
            if page.is_empty() {
                return Ok(written);
            }
            let write = |view: &ResultView<'_>, marks: &[Mark]| {
                write(view, marked.values(view, marks).collect())
            };
            written += write_page(self, &page, marked, write).await?;
            progress(written);
        }
    }

    /// The bytes that [`Self::export`] writes, a chunk for the header and one for each page of
    /// results, at the reader's pace: the next page is read when the next chunk is asked for. The
    /// event of the export is saved first.
    ///
    /// The stream ends with its first error. Chunks before it stay valid.
    ///
    /// # Errors
    /// When the event cannot be saved.
    pub async fn export_chunks(
        self,
        actor: &AccountActor,
        format: RowFormat,
        marked: MarkedColumns,
    ) -> Result<impl Stream<Item = Result<Bytes, ExportError>> + use<>, InternalError> {
        self.save_export(actor, format.name()).await?;
        let begin = ChunkedExport {
            results: self,
            format,
            marked,
            has_header: false,
        };
        Ok(try_unfold(begin, async |mut export| {
            let chunk = export.next_chunk().await?;
            Ok(chunk.map(|chunk| (chunk, export)))
        }))
    }
}

/// The state of an export between two chunks.
struct ChunkedExport {
    results: PrismResults,
    format: RowFormat,
    marked: MarkedColumns,
    has_header: bool,
}

impl ChunkedExport {
    /// The next chunk; `None` at the end. The header of jsonl is an empty chunk.
    async fn next_chunk(&mut self) -> Result<Option<Bytes>, ExportError> {
        let lens = Arc::clone(self.results.lens());
        let rows = RowWriter::new(self.format, lens.columns(), Vec::new());
        let mut rows = rows.with_marks(self.marked.names());
        if self.has_header {
            let page = self.results.next_page().await?;
            if page.is_empty() {
                return Ok(None);
            }
            let marked = &self.marked;
            let write = |view: &ResultView<'_>, marks: &[Mark]| {
                rows.write_marked_row(view, marked.values(view, marks))
            };
            write_page(&self.results, &page, marked, write).await?;
        } else {
            self.has_header = true;
            rows.write_header()?;
        }
        Ok(Some(Bytes::from(rows.finish()?)))
    }
}

/// Writes the results of a page with their marks and returns their number.
async fn write_page(
    results: &PrismResults,
    page: &[ReadableResult],
    marked: &MarkedColumns,
    mut write: impl FnMut(&ResultView<'_>, &[Mark]) -> io::Result<()>,
) -> Result<u64, ExportError> {
    let marks = if marked.names().is_empty() {
        HashMap::new()
    } else {
        results.list_marks(page).await?
    };
    let mut written = 0;
    for result in page {
        let view = result.view();
        let marks = marks.get(&view.id).map_or(&[][..], Vec::as_slice);
        write(&view, marks)?;
        written += 1;
    }
    Ok(written)
}
