//! Export: all results of a prism, page by page, through the lens that the prism had at the start, as
//! rows under one header.

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::vec;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::try_unfold;
use refract_domain::event::EventAction;
use refract_domain::ids::ResultId;
use refract_domain::result::{ResultView, SavedResult};
use refract_identity::people::AccountActor;
use refract_lens_rendering::{FurtherValue, RowFormat, RowWriter};
use refract_persistence::{Database, PersistenceError, ResultFilter, ResultOrder, ResultPages};

use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::results::column_value::ColumnNotSearchable;
use crate::results::export_columns::{ExportColumns, PageDetails};
use crate::results::read::ReadableResult;
use crate::results::search::ResultSearch;
use crate::results::search::result_search::SearchConditions;
use crate::results::{Results, export_event};

/// The results of a prism that a filter or a search selects, one page at a time (keyset
/// pagination).
pub struct PrismResults {
    database: Database,
    lens: Arc<PrismLens>,
    filter: ResultFilter,
    conditions: Option<SearchConditions>,
    pages: ResultPages,
    /// The results to read, in an order that the pages do not have.
    ranked: Option<vec::IntoIter<ResultId>>,
}

/// Results of a list in an order of its own that are read at once.
const RANKED_AT_ONCE: usize = 100;

impl Results<'_> {
    /// Prepares to read the results of a prism that a filter selects. Makes no query yet.
    pub fn of_prism(
        self,
        lens: PrismLens,
        filter: ResultFilter,
        order: ResultOrder,
    ) -> PrismResults {
        let database = &self.refract.database;
        let (account, prism) = (lens.prism.account, lens.prism.id);
        PrismResults {
            database: database.clone(),
            lens: Arc::new(lens),
            pages: database.result_pages(account, prism, filter.clone(), order),
            filter,
            conditions: None,
            ranked: None,
        }
    }

    /// Prepares to read all results of a search, however rare they are: unlike a page of a search,
    /// it has no limit on candidates.
    ///
    /// # Errors
    /// When the search is for a value of a column that cannot be searched.
    pub fn of_search(
        self,
        lens: PrismLens,
        search: ResultSearch,
        order: ResultOrder,
    ) -> Result<PrismResults, ColumnNotSearchable> {
        let conditions = SearchConditions::of(&lens, &search)?;
        Ok(PrismResults {
            conditions: (!conditions.are_none()).then_some(conditions),
            ..self.of_prism(lens, search.filter, order)
        })
    }
}

#[boxed]
impl PrismResults {
    /// These results alone, in this order.
    pub(crate) fn in_order(self, ranked: Vec<ResultId>) -> Self {
        Self {
            ranked: Some(ranked.into_iter()),
            ..self
        }
    }

    /// The next results, and whether there are no more.
    async fn next_saved(&mut self) -> Result<(Vec<SavedResult>, bool), InternalError> {
        let Some(ranked) = &mut self.ranked else {
            let page = self.pages.next().await?;
            let is_end = page.is_empty();
            return Ok((page, is_end));
        };
        let ids: Vec<ResultId> = ranked.by_ref().take(RANKED_AT_ONCE).collect();
        let is_end = ids.is_empty();
        let account = self.lens.prism.account;
        let mut page = self.database.find_results(account, ids.clone()).await?;
        page.sort_by_key(|result| ids.iter().position(|id| *id == result.id));
        Ok((page, is_end))
    }

    /// Counts the results that the filter selects now, regardless of answers, words and marks.
    pub async fn count(&self) -> Result<u64, PersistenceError> {
        let prism = &self.lens.prism;
        self.database
            .count_results(prism.account, prism.id, self.filter.clone())
            .await
    }

    /// Saves the event of an export of these results, for a format of the caller's own.
    ///
    /// # Errors
    /// When the event cannot be saved.
    pub async fn save_export(
        &self,
        actor: &AccountActor,
        format: &'static str,
    ) -> Result<(), InternalError> {
        let what = export_event::described(format, &self.filter, self.conditions.is_some());
        let action = EventAction::ResultsExported;
        let prism = self.lens.prism.id;
        Ok(export_event::save(&self.database, actor, action, prism, what).await?)
    }

    /// The lens through which the results are read.
    pub fn lens(&self) -> &Arc<PrismLens> {
        &self.lens
    }

    /// The next page, which is empty after the last result.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn next_page(&mut self) -> Result<Vec<ReadableResult>, InternalError> {
        loop {
            let (page, is_end) = self.next_saved().await?;
            let mut readable = Vec::with_capacity(page.len());
            for result in page {
                let result = ReadableResult::through_lens(&self.database, result, &self.lens);
                readable.push(result.await?);
            }
            if let Some(conditions) = &self.conditions {
                let marks = if conditions.has_marks() {
                    let ids = readable.iter().map(ReadableResult::id).collect();
                    conditions.marks_by_result(&self.database, ids).await?
                } else {
                    HashMap::new()
                };
                readable.retain(|result| conditions.match_result(result, &marks));
            }
            if is_end || !readable.is_empty() {
                return Ok(readable);
            }
        }
    }
}

#[boxed]
impl Results<'_> {
    /// The newest `ok` results of a prism, at most `most`.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn newest_answered(
        self,
        lens: &Arc<PrismLens>,
        most: u32,
    ) -> Result<Vec<ReadableResult>, InternalError> {
        let database = &self.refract.database;
        let (account, prism) = (lens.prism.account, lens.prism.id);
        let answered = ResultFilter {
            is_ok: Some(true),
            ..ResultFilter::default()
        };
        let newest_first = ResultOrder::NewestFirst;
        let found = database
            .list_results(account, prism, answered, newest_first, None, most)
            .await?;
        let mut readable = Vec::with_capacity(found.len());
        for result in found {
            readable.push(ReadableResult::through_lens(database, result, lens).await?);
        }
        Ok(readable)
    }
}

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

#[boxed]
impl PrismResults {
    /// Writes results as rows under one header and returns the number of rows. Each row is the row
    /// that the API gives for the result, followed by the values of the further columns. With every
    /// stored probability, a line of jsonl is the result in the API's format `raw`, with its fields.
    /// `progress` gets the number of rows written after each page. An event of the export is saved
    /// before the first byte is written.
    ///
    /// Two pages of results are in memory at a time.
    ///
    /// # Errors
    /// When the event cannot be saved, the results cannot be read or `out` cannot be written to.
    /// Rows already written stay written.
    pub async fn export(
        &mut self,
        actor: &AccountActor,
        format: RowFormat,
        columns: &ExportColumns,
        mut out: impl Write,
        mut progress: impl FnMut(u64),
    ) -> Result<u64, ExportError> {
        self.save_export(actor, format.name()).await?;
        self.pages.read_ahead();
        out.write_all(&header(&self.lens, format, columns)?)?;
        let mut written = 0;
        loop {
            let page = self.next_page().await?;
            if page.is_empty() {
                out.flush()?;
                return Ok(written);
            }
            self.write_rows(&page, format, columns, &mut out).await?;
            written += counted(&page);
            progress(written);
        }
    }

    /// Passes each result with the values of its further columns to `write`, for a format of the
    /// caller's own. Returns the number of results. An event of the export is saved first.
    ///
    /// # Errors
    /// When the event cannot be saved, the results cannot be read or `write` fails.
    pub async fn export_each(
        &mut self,
        actor: &AccountActor,
        format: &'static str,
        columns: &ExportColumns,
        mut write: impl FnMut(&ResultView<'_>, Vec<FurtherValue<'_>>) -> io::Result<()>,
        mut progress: impl FnMut(u64),
    ) -> Result<u64, ExportError> {
        self.save_export(actor, format).await?;
        self.pages.read_ahead();
        let mut written = 0;
        loop {
            let page = self.next_page().await?;
            if page.is_empty() {
                return Ok(written);
            }
            self.each_row(&page, columns, &mut write).await?;
            written += counted(&page);
            progress(written);
        }
    }

    /// Passes each result of a page with the values of its further columns to `write`.
    ///
    /// # Errors
    /// When what the columns need cannot be read or `write` fails.
    pub async fn each_row(
        &self,
        page: &[ReadableResult],
        columns: &ExportColumns,
        mut write: impl FnMut(&ResultView<'_>, Vec<FurtherValue<'_>>) -> io::Result<()>,
    ) -> Result<(), ExportError> {
        let details = PageDetails::load(&self.database, &self.lens, page, columns).await?;
        for result in page {
            let view = result.view();
            write(&view, columns.values(&details.of(&view)))?;
        }
        Ok(())
    }

    /// Writes the rows of a page.
    async fn write_rows(
        &self,
        page: &[ReadableResult],
        format: RowFormat,
        columns: &ExportColumns,
        out: &mut impl Write,
    ) -> Result<(), ExportError> {
        let details = PageDetails::load(&self.database, &self.lens, page, columns).await?;
        if columns.are_raw_lines(format) {
            for result in page {
                let view = result.view();
                columns.write_raw_line(&self.lens, &details.of(&view), out)?;
            }
            return Ok(());
        }
        let further = columns.further();
        let rows = RowWriter::new(format, columns.row(&self.lens), out);
        let rows = rows.with_style(columns.style);
        let mut rows = rows.with_further(further.iter().map(|column| column.name.as_str()));
        for result in page {
            let view = result.view();
            rows.write_marked_row(&view, columns.values(&details.of(&view)))?;
        }
        Ok(())
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
        columns: ExportColumns,
    ) -> Result<impl Stream<Item = Result<Bytes, ExportError>> + use<>, InternalError> {
        self.save_export(actor, format.name()).await?;
        let begin = ChunkedExport {
            results: self,
            format,
            columns,
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
    columns: ExportColumns,
    has_header: bool,
}

impl ChunkedExport {
    /// The next chunk; `None` at the end. The header of jsonl is an empty chunk.
    async fn next_chunk(&mut self) -> Result<Option<Bytes>, ExportError> {
        let Self {
            results,
            format,
            columns,
            has_header,
        } = self;
        if !*has_header {
            *has_header = true;
            return Ok(Some(header(results.lens(), *format, columns)?.into()));
        }
        let page = results.next_page().await?;
        if page.is_empty() {
            return Ok(None);
        }
        let mut rows = Vec::new();
        results
            .write_rows(&page, *format, columns, &mut rows)
            .await?;
        Ok(Some(rows.into()))
    }
}

/// The header of rows; jsonl has none.
fn header(lens: &PrismLens, format: RowFormat, columns: &ExportColumns) -> io::Result<Vec<u8>> {
    let further = columns.further();
    let rows = RowWriter::new(format, columns.row(lens), Vec::new());
    let rows = rows.with_style(columns.style);
    let mut rows = rows.with_further(further.iter().map(|column| column.name.as_str()));
    rows.write_header()?;
    rows.finish()
}

fn counted(page: &[ReadableResult]) -> u64 {
    u64::try_from(page.len()).unwrap_or(u64::MAX)
}
