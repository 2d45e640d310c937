//! Streams the filtered results as a file.

use refract_service::marks::MarkedColumns;
use refract_service::results::ResultOrder;

use super::filter_values::FilterValues;
use super::refused;
use crate::components::list_pages::{media_type, row_format};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Sends the file with the rows of `refract results export`, oldest first.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let format = row_format(&visit.sent.query)?;
    let lens = visit.find_lens().await?;
    let columns = visit.refract.results().searchable_columns(&lens).await?;
    let values = FilterValues::read(&visit.sent.query, &lens, &columns);
    if values.has_errors() {
        return refused(&visit, lens, &columns, &values).await;
    }
    let name = format!("{}-results.{}", lens.prism.slug, format.name());
    let oldest_first = ResultOrder::OldestFirst;
    let results = visit.refract.results();
    let results = results.of_search(lens, values.filter, oldest_first);
    // the filters name only searchable columns of this lens
    let results = results.map_err(|_| PageError::NotFound)?;
    let marked = MarkedColumns::default();
    let chunks = results
        .export_chunks(&visit.actor(), format, marked)
        .await?;
    Ok(PageReply::streamed_file(&name, media_type(format), chunks))
}
