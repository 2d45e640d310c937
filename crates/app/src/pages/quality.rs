//! `/prisms/{slug}/quality`: how often the answers to a question are right, measured by marks. And the
//! whole confusion table as a file.

mod automation;
mod comparison;
mod details;
mod figures;
mod quality_view;
mod wrong_answers;

use std::fmt::Write as _;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::ids::ResultId;
use refract_domain::prism::Question;
use refract_evaluation::cutoffs::FEW_MARKS;
use refract_evaluation::measures::QuestionMeasures;
use refract_service::measures::{EvaluationError, questions};
use refract_service::prisms::PrismHistory;

use self::quality_view::{QualityFilters, QualityView, filter_form};
use crate::components::{NoticeKind, OLDER, PrismTab, RETEST_TITLE, notice, retests_address};
use crate::replies::{PageError, PageReply};
use crate::requests::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let history = find_history(&visit).await?;
    let filters = QualityFilters::read(&visit.sent.query);
    let question = chosen(&visit, &history, &filters).await?;
    let asked = questions(&history.versions);
    let form = |models: &[&str]| filter_form(&filters, &history, &asked, question, models);
    if filters.has_errors() {
        let words = html! { "A filter is not valid, so nothing was measured. Change what is marked below." };
        let main = html! { (notice(NoticeKind::Refused, &words)) (form(&[])) };
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return Ok(reply(&visit, &history, &main, status));
    }
    let making = async {
        let view = match measure(&visit, &history, &filters, question).await {
            Ok(view) => view,
            Err(EvaluationError::Read(error)) => return Err(error.into()),
            Err(EvaluationError::NotComparable(reason)) => {
                let words =
                    html! { "These marks cannot be measured together: " bdi { (reason) } "." };
                return Ok(html! { (notice(NoticeKind::Refused, &words)) (form(&[])) });
            }
        };
        let body = if view.measures.marks == 0 {
            figures::no_marks(&view)
        } else {
            measured(&visit, &view).await?
        };
        Ok::<_, PageError>(html! { (form(&view.models())) (body) (retests(&history)) })
    };
    let key = page_key(&visit, &history, question).await?;
    let main = visit.site.kept_pages.page(key, Box::pin(making)).await?;
    Ok(reply(&visit, &history, &main, StatusCode::OK))
}

/// Everything that the page is made of: the prism with the numbers of its
/// latest version and lens, the address, and
/// watermarks of the marks, and of the results for a comparison, which reads those without marks.
async fn page_key(
    visit: &Visit,
    history: &PrismHistory,
    question: &Question,
) -> Result<String, PageError> {
    let query = &visit.sent.query;
    let compares = query.get("a").is_some();
    let measures = visit.refract.measures();
    let watermark = measures.quality_watermark(&history.prism, compares).await?;
    let (prism, question) = (&history.prism, &question.key);
    let query = query.in_address();
    Ok(format!("{prism:?} {question} {query} {watermark}"))
}

/// The sections about a question that has marks. Pictures of a few marks would show chance, so they
/// are folded.
async fn measured(visit: &Visit, view: &QualityView<'_>) -> Result<Markup, PageError> {
    let details = html! {
        (details::calibration(view))
        (figures::groups(view))
    };
    Ok(html! {
        div.quality {
            (figures::section(view))
            (automation::section(view))
            (details::outcomes(view))
            (wrong_answers::section(visit, view).await?)
            @if view.measures.marks < FEW_MARKS {
                details {
                    summary { "Probabilities, versions and times: so few marks mostly show chance" }
                    (details)
                }
            } @else {
                (details)
            }
            (details::agreement(visit, view).await?)
            (comparison::section(visit, view).await?)
        }
    })
}

/// The way to the page on which another model is asked.
fn retests(history: &PrismHistory) -> Markup {
    html! {
        section #retest {
            h2 { (RETEST_TITLE) }
            p.row {
                a.button href=(retests_address(&history.prism)) { "Ask texts again" }
                span.soft { "of another model or version, without saving results: how many answers flip?" }
            }
        }
    }
}

fn reply(visit: &Visit, history: &PrismHistory, main: &Markup, status: StatusCode) -> PageReply {
    let title = format!("Quality of {}", history.prism.name);
    let page = visit.prism_page(&history.prism, PrismTab::Quality, title, main);
    page.status(status).reply()
}

/// Sends a CSV file with a row for each pair of a marked and a predicted outcome that occurs.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let history = find_history(&visit).await?;
    let filters = QualityFilters::read(&visit.sent.query);
    let question = chosen(&visit, &history, &filters).await?;
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

/// Finds the prism in the address, with all its versions.
async fn find_history(visit: &Visit) -> Result<PrismHistory, PageError> {
    let prism = visit.find_prism().await?;
    Ok(visit.refract.prisms().with_versions(prism.id).await?)
}

/// The question in the address, or else the first one that has marks.
async fn chosen<'a>(
    visit: &Visit,
    history: &'a PrismHistory,
    filters: &QualityFilters,
) -> Result<&'a Question, PageError> {
    let asked = questions(&history.versions);
    let found = if let Some(key) = filters.query.get("question") {
        asked.iter().find(|question| question.key.as_str() == key)
    } else {
        let measures = visit.refract.measures();
        let marked = measures.marked_questions(&history.prism).await?;
        let has_marks = |question: &&&Question| marked.contains(question.key.as_str());
        asked.iter().find(has_marks).or(asked.first())
    };
    found.copied().ok_or(PageError::NotFound)
}

/// Measures the question by the marks that the filters choose.
async fn measure<'a>(
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
