//! The whole confusion table as a file.

use std::fmt::Write as _;

use refract_evaluation::measures::QuestionMeasures;
use refract_service::measures::EvaluationError;

use super::measuring::{chosen, find_history, measure};
use super::quality_filters::QualityFilters;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Sends a CSV file with a row for each pair of a marked and a predicted outcome that occurs.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let history = find_history(&visit).await?;
    let filters = QualityFilters::read(&visit.sent.query);
    let question = chosen(&history, &filters)?;
    if filters.has_errors() {
        return Err(PageError::NotFound);
    }
    let view = match measure(&visit, &history, &filters, question).await {
        Ok(view) => view,
        Err(EvaluationError::Read(error)) => return Err(error.into()),
        Err(EvaluationError::NotComparable(_)) => return Err(PageError::NotFound),
    };
    let name = format!("{}-{}-confusion.csv", history.prism.slug, question.key);
    let file = rows(&view.measures).into_bytes();
    Ok(PageReply::file(&name, "text/csv; charset=utf-8", file))
}

/// The rows. Keys consist of letters, digits and underscores, so that none needs quotes.
fn rows(measures: &QuestionMeasures) -> String {
    let mut text = "marked,predicted,count\r\n".to_owned();
    for cell in &measures.confusion {
        // writing to a `String` cannot fail
        let _ = write!(
            text,
            "{},{},{}\r\n",
            cell.marked, cell.predicted, cell.count
        );
    }
    text
}
