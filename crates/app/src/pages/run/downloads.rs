//! The rows of a run as a file, in the order of the uploaded one.

use bytes::Bytes;
use futures_util::{Stream, stream};
use refract_file_runs::{HeldOutputError, RowLayout};

use super::run_view::find;
use crate::components::list_pages::{media_type, row_format};
use crate::pages::uploaded_file::open_file;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// The value of the query for a Parquet file.
pub(super) const PARQUET: &str = "parquet";

/// Sends the rows that have a result.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    let query = &visit.sent.query;
    let keep_columns = query.get("columns") == Some("keep");
    let slug = &view.lens.prism.slug;
    let (actor, runs) = (visit.actor(), visit.refract.runs());
    if query.get("format") == Some(PARQUET) {
        let run = open_file(&visit, &view.run).await?;
        runs.save_download(&actor, &view.run, PARQUET).await?;
        let rows = run.held_parquet(keep_columns);
        let chunks = chunks(rows, async |rows| rows.next_chunk().await);
        let name = format!("{slug}-run.{PARQUET}");
        let media_type = "application/vnd.apache.parquet";
        return Ok(PageReply::streamed_file(&name, media_type, chunks));
    }
    let format = row_format(query)?;
    let layout = RowLayout {
        format,
        keep_columns,
        byte_order_mark: query.get("mark") == Some("bom"),
    };
    let run = open_file(&visit, &view.run).await?;
    runs.save_download(&actor, &view.run, format.name()).await?;
    let rows = run.held_rows(layout);
    let chunks = chunks(rows, async |rows| rows.next_chunk().await);
    let name = format!("{slug}-run.{}", format.name());
    Ok(PageReply::streamed_file(&name, media_type(format), chunks))
}

/// Sends the rows that a limit refuses, with the reasons.
pub(crate) async fn download_refused(visit: Visit) -> Result<PageReply, PageError> {
    let view = find(&visit).await?;
    let run = open_file(&visit, &view.run).await?;
    let name = format!("{}-refused.csv", view.lens.prism.slug);
    let list = run.refused_list();
    let chunks = chunks(list, async |list| list.next_chunk().await);
    Ok(PageReply::streamed_file(
        &name,
        "text/csv; charset=utf-8",
        chunks,
    ))
}

/// The chunks of a file while it is written. After an error the client gets a broken file instead
/// of one that looks whole.
fn chunks<T, F>(rows: T, next: F) -> impl Stream<Item = Result<Bytes, HeldOutputError>> + 'static
where
    T: 'static,
    F: AsyncFn(&mut T) -> Result<Option<Vec<u8>>, HeldOutputError> + Clone + 'static,
{
    stream::try_unfold(rows, move |mut rows| {
        let next = next.clone();
        async move {
            let chunk = next(&mut rows).await?;
            Ok(chunk.map(|chunk| (Bytes::from(chunk), rows)))
        }
    })
}
