//! The question in the address, measured by the marks that the filters choose.

use refract_domain::ids::ResultId;
use refract_domain::prism::question::Question;
use refract_service::measures::{EvaluationError, questions};
use refract_service::prisms::PrismHistory;

use super::quality_filters::QualityFilters;
use super::quality_view::QualityView;
use crate::components::list_pages::OLDER;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// Finds the prism in the address, with all its versions.
pub(super) async fn find_history(visit: &Visit) -> Result<PrismHistory, PageError> {
    let prism = visit.find_prism().await?;
    Ok(visit.refract.prisms().with_versions(prism.id).await?)
}

/// The question in the address, or else the first one.
pub(super) fn chosen<'a>(
    history: &'a PrismHistory,
    filters: &QualityFilters,
) -> Result<&'a Question, PageError> {
    let mut asked = questions(&history.versions).into_iter();
    let found = match filters.query.get("question") {
        Some(key) => asked.find(|question| question.key.as_str() == key),
        None => asked.next(),
    };
    found.ok_or(PageError::NotFound)
}

/// Measures the question by the marks that the filters choose.
pub(super) async fn measure<'a>(
    visit: &Visit,
    history: &'a PrismHistory,
    filters: &'a QualityFilters,
    question: &Question,
) -> Result<QualityView<'a>, EvaluationError> {
    let query = &visit.sent.query;
    let before = query.get(OLDER).and_then(ResultId::parse);
    let measures = visit.refract.measures();
    let (filter, from) = (filters.filter.results.clone(), filters.filter.from);
    let measuring = measures.quality(history, question, filter, from, before);
    let quality = measuring.await?;
    Ok(QualityView::new(history, filters, query, quality))
}
