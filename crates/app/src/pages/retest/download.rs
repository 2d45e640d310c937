//! The flips of a retest as a file, with the rows of `refract retest --output`.

use refract_lens_rendering::FlipRowWriter;

use super::retest_view::find;
use crate::components::list_pages::{media_type, row_format};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Sends all flips, the surest first.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let format = row_format(&visit.sent.query)?;
    let view = find(&visit).await?;
    let retests = visit.refract.retests();
    let report = retests.report(&view.retest, &view.lens).await?;
    let actor = visit.actor();
    retests
        .save_download(&actor, &view.retest, format.name())
        .await?;
    let mut rows = FlipRowWriter::new(format, Vec::new());
    // writing into memory cannot fail
    let _ = rows.write_header();
    for flip in report.flipped() {
        let _ = rows.write_row(&flip.row());
    }
    let name = format!("{}-flips.{}", view.lens.prism.slug, format.name());
    let bytes = rows.finish().unwrap_or_default();
    Ok(PageReply::file(&name, media_type(format), bytes))
}
