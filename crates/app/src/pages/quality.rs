//! `/prisms/{slug}/quality`: how often the answers to a question are right, measured by marks.

mod advice;
mod automation;
mod by_outcome;
mod calibration;
mod certified;
mod comparison;
mod confusion;
mod download;
mod few_marks;
mod figures;
mod filter_form;
mod groups;
mod measuring;
mod quality_filters;
mod quality_view;
mod wrong_answers;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::prism::question::Question;
use refract_evaluation::cutoffs::advice::FEW_MARKS;
use refract_service::measures::{EvaluationError, questions};
use refract_service::prisms::PrismHistory;

pub(crate) use self::download::download;
use self::filter_form::filter_form;
use self::measuring::{chosen, find_history, measure};
use self::quality_filters::QualityFilters;
use self::quality_view::QualityView;
use crate::components::notice::{NoticeKind, notice};
use crate::components::prism_tabs::PrismTab;
use crate::components::retest::{RETEST_TITLE, retests_address};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let history = find_history(&visit).await?;
    let filters = QualityFilters::read(&visit.sent.query);
    let question = chosen(&history, &filters)?;
    let asked = questions(&history.versions);
    let form = |models: &[&str]| filter_form(&filters, &history, &asked, question, models);
    if filters.has_errors() {
        let words = html! { "A filter cannot be read, so nothing was measured. Change what is marked below." };
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
            few_marks::none(&view)
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
        (calibration::section(view))
        (groups::section(view))
    };
    Ok(html! {
        div.quality {
            (figures::section(view))
            (advice::section(view))
            (certified::section(view))
            (confusion::section(view))
            (wrong_answers::section(visit, view).await?)
            @if view.measures.marks < FEW_MARKS {
                details {
                    summary { "Probabilities, versions and times: so few marks mostly show chance" }
                    (details)
                }
            } @else {
                (details)
            }
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
