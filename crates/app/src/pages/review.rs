//! `/prisms/{slug}/review`: queues of results that people mark, one text after the other.

mod judging;
mod queue_form;
mod sitting_page;
mod standing;

use std::sync::Arc;

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::{Markup, html};
use refract_service::lenses::PrismLens;
use refract_service::marks::{Annotators, Sitting};

use self::queue_form::{QueueForm, sitting_name};
use self::standing::others;
use crate::components::{PrismTab, count, counted, empty_state, moment, prism_address, table};
use crate::pages::results::MARKED_BY;
use crate::replies::{PageError, PageReply};
use crate::requests::Visit;

pub(crate) use self::sitting_page::{judge, show_sitting, undo};

/// Shows the queues, and the visitor's sittings.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let version = visit.refract.marks().version_to_review(&lens.prism);
    let form = QueueForm::of_address(&visit, &lens, version.await?);
    page(&visit, &lens, &form, StatusCode::OK).await
}

/// Begins a sitting.
pub(crate) async fn begin(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let version = visit.refract.marks().version_to_review(&lens.prism);
    let form = QueueForm::of_form(&visit, &lens, version.await?);
    let Some(queue) = form.queue() else {
        return page(&visit, &lens, &form, StatusCode::UNPROCESSABLE_ENTITY).await;
    };
    let lens = Arc::new(lens);
    let marks = visit.refract.marks();
    let id = marks
        .begin_review(&lens, visit.visitor.person, &visit.annotator(), &queue)
        .await?;
    let address = prism_address(&lens.prism);
    Ok(PageReply::see_other(&format!("{address}/review/{id}")))
}

async fn page(
    visit: &Visit,
    lens: &PrismLens,
    form: &QueueForm,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let (person, prism) = (visit.visitor.person, lens.prism.id);
    let marks = visit.refract.marks();
    let sittings = marks.sittings(person, prism).await?;
    let reviewing = marks.reviewing(person, prism).await?;
    let here: Vec<_> = reviewing.into_iter().map(|(other, _)| other).collect();
    let annotators = marks.annotators(lens.prism.account, prism).await?;
    let counts = visit.refract.results();
    let counts = counts.counts(visit.account(), Utc::now()).await?;
    let is_empty = counts.of_prism(prism).in_all == 0;
    let address = format!("{}/review", prism_address(&lens.prism));
    let main = html! {
        p.hint {
            "Say what the right answer to a text is, with one key. What you mark is kept beside the "
            "result, never changes it, and shows how often the prism is right."
        }
        (others(visit, &here).await?)
        @if is_empty {
            (empty_state("There is no result to mark yet.", &html! {
                a.button.main href={ (prism_address(&lens.prism)) "/try" } { "Try a text" }
            }))
        }
        div.split {
            section {
                h2 { "Begin" }
                (form.show(lens, &address))
            }
            section {
                @if !sittings.is_empty() {
                    h2 { "Go on" }
                    (sitting_list(&sittings, lens, &address))
                }
                @if annotators.iter().len() > 0 {
                    h2 { "Who marked" }
                    (people(&annotators, &prism_address(&lens.prism)))
                }
            }
        }
    };
    let title = format!("Review · {}", lens.prism.name);
    let page = visit.prism_page(&lens.prism, PrismTab::Review, title, &main);
    Ok(page.status(status).reply())
}

/// How much each person marked, with a link to the results.
fn people(annotators: &Annotators, prism: &str) -> Markup {
    let rows = html! {
        @for annotator in annotators.iter() {
            tr {
                th scope="row" { bdi { (annotators.label(&annotator.by)) } }
                td.number {
                    @if let Some(person) = annotator.by.person { a href={ (prism) "/results?marks=" (MARKED_BY) (person) } { (count(annotator.marks)) } }
                    @else { (count(annotator.marks)) }
                }
                td.number { (count(annotator.settled)) }
            }
        }
    };
    table("Marks of each person", &["Who", "Marks", "Settled"], &rows)
}

fn sitting_list(sittings: &[Sitting], lens: &PrismLens, address: &str) -> Markup {
    html! {
        ul.plain {
            @for sitting in sittings {
                li {
                    a href={ (address) "/" (sitting.id) } { (sitting_name(sitting, lens)) }
                    div.soft {
                        (counted(sitting.steps().len(), "judgement")) " over "
                        (counted(sitting.results(), "result")) ", " (moment(sitting.used_at))
                    }
                }
            }
        }
    }
}
