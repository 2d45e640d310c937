//! `/prisms/{slug}/review`: queues of results that people mark, one text after the other.
//!
//! `/prisms/{slug}/review/{sitting}`: a sitting, one text and one question at a time.

mod judging;
mod queue_form;

use std::sync::Arc;

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::{Markup, html};
use refract_domain::ids::{ResultId, SittingId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::MarkNote;
use refract_service::lenses::PrismLens;
use refract_service::marks::{
    Annotators, Judgement, JudgementInput, MarksError, NextToReview, ReviewFrom, ReviewItem,
    Sitting,
};

use self::judging::{AFTER, answer, back_to, judging, last_step, marked_so, others, standing};
use self::queue_form::{QueueForm, sitting_name};
use crate::components::{
    NoticeKind, PrismTab, count, counted, empty_state, moment, notice, prism_address, table,
    whole_text,
};
use crate::pages::results::MARKED_BY;
use crate::replies::{PageError, PageReply};
use crate::requests::Visit;

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
    let id = SittingId::new(visit.sent.form.id_of_made());
    marks
        .begin_review(&lens, visit.visitor.person, &visit.annotator(), &queue, id)
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

/// The query parameter of the result at which the queue goes on.
const AT: &str = "at";
/// The query parameter after something was undone.
const UNDONE: &str = "undone";

/// Shows what is judged next.
pub(crate) async fn show_sitting(visit: Visit) -> Result<PageReply, PageError> {
    let (lens, sitting) = find(&visit).await?;
    sitting_page(&visit, &lens, &sitting, None, StatusCode::OK).await
}

/// Saves a judgement.
pub(crate) async fn judge(visit: Visit) -> Result<PageReply, PageError> {
    let (lens, mut sitting) = find(&visit).await?;
    let form = &visit.sent.form;
    let result = ResultId::parse(form.get("result")).ok_or(PageError::NotFound)?;
    let question = QuestionKey::parse(form.get("question")).ok();
    let judgement = if form.has("outcome") {
        Judgement::Outcome(form.get("outcome").to_owned())
    } else {
        Judgement::CannotTell
    };
    let note = match form.get("note").trim() {
        "" => Ok(None),
        note => MarkNote::parse(note).map(Some),
    };
    let Ok(note) = note else {
        let words = html! { "Nothing is marked: a note has at most 200 characters on one line." };
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return sitting_page(&visit, &lens, &sitting, Some(words), status).await;
    };
    let input = JudgementInput {
        result,
        question: question.ok_or(PageError::NotFound)?,
        judgement,
        marked_by: visit.annotator(),
        note,
    };
    match visit
        .refract
        .marks()
        .judge(&lens, &mut sitting, input)
        .await
    {
        Ok(()) => Ok(back(&lens, &sitting, Some(result))),
        Err(MarksError::Internal(error)) => Err(error.into()),
        Err(MarksError::ResultGone) => {
            let words = html! { "Nothing is marked: the result was deleted meanwhile." };
            sitting_page(&visit, &lens, &sitting, Some(words), StatusCode::CONFLICT).await
        }
        Err(MarksError::InvalidRows(errors)) => {
            let words = html! {
                "Nothing is marked."
                ul { @for (_, error) in errors.listed() { li { bdi { (error) } } } }
            };
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            sitting_page(&visit, &lens, &sitting, Some(words), status).await
        }
    }
}

/// Undoes the last judgement and goes back to its text.
pub(crate) async fn undo(visit: Visit) -> Result<PageReply, PageError> {
    let (lens, mut sitting) = find(&visit).await?;
    let undone = visit.refract.marks();
    let undone = undone
        .undo_judgement(&visit.annotator(), &mut sitting)
        .await;
    match undone {
        Ok(Some(step)) => {
            let address = sitting_address(&lens, &sitting);
            let undone = format!("{address}?{AT}={}&{UNDONE}=1", step.result);
            Ok(PageReply::see_other(&undone))
        }
        Ok(None) => Ok(back(&lens, &sitting, None)),
        Err(MarksError::Internal(error)) => Err(error.into()),
        // undoing checks no rows, and a deleted result has no mark to withdraw
        Err(MarksError::ResultGone | MarksError::InvalidRows(_)) => Err(PageError::NotFound),
    }
}

/// Redirects to the sitting, at a result.
fn back(lens: &PrismLens, sitting: &Sitting, at: Option<ResultId>) -> PageReply {
    let address = sitting_address(lens, sitting);
    PageReply::see_other(&match at {
        Some(result) => format!("{address}?{AT}={result}"),
        None => address,
    })
}

fn sitting_address(lens: &PrismLens, sitting: &Sitting) -> String {
    format!("{}/review/{}", prism_address(&lens.prism), sitting.id)
}

async fn find(visit: &Visit) -> Result<(Arc<PrismLens>, Sitting), PageError> {
    let lens = visit.find_lens().await?;
    let id = SittingId::parse(visit.sent.values.get("sitting")).ok_or(PageError::NotFound)?;
    let marks = visit.refract.marks();
    let sitting = marks.find_sitting(visit.visitor.person, lens.prism.id, id);
    let sitting = sitting.await?.ok_or(PageError::NotFound)?;
    Ok((Arc::new(lens), sitting))
}

/// Where the address says that the queue goes on.
fn from(visit: &Visit) -> ReviewFrom {
    let id = |name| visit.sent.query.get(name).and_then(ResultId::parse);
    let submitted = ResultId::parse(visit.sent.form.get("result"));
    match (submitted.or_else(|| id(AT)), id(AFTER)) {
        (Some(at), _) => ReviewFrom::At(at),
        (None, Some(after)) => ReviewFrom::After(after),
        (None, None) => ReviewFrom::Beginning,
    }
}

async fn sitting_page(
    visit: &Visit,
    lens: &Arc<PrismLens>,
    sitting: &Sitting,
    refusal: Option<Markup>,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let marks = visit.refract.marks();
    let person = visit.visitor.person;
    let next = marks
        .next_to_review(lens, person, &visit.annotator(), sitting, from(visit))
        .await?;
    let address = sitting_address(lens, sitting);
    let main = html! {
        @if let Some(words) = refusal { (notice(NoticeKind::Refused, &words)) }
        div.row.spread.sitting {
            p { strong { (sitting_name(sitting, lens)) } ", " (count(next.left)) " left" }
            (others(visit, &next.others).await?)
            a href={ (prism_address(&lens.prism)) "/review" } { "All queues" }
        }
        @match visit.sent.query.get(AFTER).and_then(ResultId::parse) {
            Some(skipped) => (back_to(&format!("{address}?{AT}={skipped}"))),
            None => (last_step(visit, lens, sitting, &address, visit.sent.query.get(UNDONE).is_some()).await?),
        }
        @match &next.item {
            Some(item) => (item_of(visit, lens, sitting, item, &address).await?),
            None => (nothing_left(visit, lens, sitting, &next).await?),
        }
    };
    let title = format!("Review · {}", lens.prism.name);
    let page = visit.prism_page(&lens.prism, PrismTab::Review, title, &main);
    Ok(page.script("review.js").status(status).reply())
}

async fn item_of(
    visit: &Visit,
    lens: &PrismLens,
    sitting: &Sitting,
    item: &ReviewItem,
    address: &str,
) -> Result<Markup, PageError> {
    let view = item.result.view();
    let fields = item.result.version().fields();
    let Some(question) = item.result.version().question(&item.question) else {
        return Ok(html! {});
    };
    // after a judgement or a skip the next text is read
    let goes_on = [AT, AFTER]
        .iter()
        .any(|name| visit.sent.query.get(name).is_some());
    Ok(html! {
        div.split.review {
            section tabindex="-1" autofocus[goes_on] aria-label="Text" aria-describedby="text" {
                h2.unseen { "Text" }
                div #text {
                @for (key, value) in view.fields.as_slice() {
                    @if fields.len() > 1 {
                        @let field = fields.iter().find(|field| field.key == *key);
                        h3 { (field.map_or(key.as_str(), |field| &field.label)) }
                    }
                    div.large { (whole_text(value)) }
                }
                @if let Some(context) = item.result.submission().context() {
                    h3 { "Context of this call" }
                    (whole_text(context))
                }
                }
            }
            section aria-label="Judgement" {
                @if sitting.settles() { (marked_so(item, question)) }
                (judging(item, question, &visit.sent.form, address))
                @if !sitting.is_blind() { (answer(item, question)) }
                (standing(visit, lens, sitting, question).await?)
            }
        }
    })
}

async fn nothing_left(
    visit: &Visit,
    lens: &PrismLens,
    sitting: &Sitting,
    next: &NextToReview,
) -> Result<Markup, PageError> {
    let address = prism_address(&lens.prism);
    let words = match (sitting.results(), next.left) {
        (0, _) => "Nothing in this queue is left to judge.",
        (_, 0) => "Everything in this queue is judged.",
        (_, _) => "The result was deleted meanwhile: go on with the next.",
    };
    let question = sitting.question().and_then(|key| lens.latest.question(key));
    Ok(html! {
        (empty_state(words, &html! { a.button.main href={ (address) "/review" } { "Choose another queue" } }))
        @if let Some(question) = question { (standing(visit, lens, sitting, question).await?) }
    })
}
