//! `/results/{id}`: one result with its answers, texts, origin and marks, and its place in the list
//! from which one came.

mod facts;
mod marking;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::ids::ResultId;
use refract_lens_rendering::{Format, render};
use refract_service::CallError;
use refract_service::marks::{MarkOrigin, MarksError};
use refract_service::results::{Neighbours, ReadableResult, ResultDetails};

use self::facts::{MOST_ORDERS, actor, facts, history, orders};
use self::marking::{answers_with_marks, changes};
use crate::components::{
    NoticeKind, PrismTab, beginning, count, notice, prism_address, whole_text,
};
use crate::pages::results::{FilterValues, LIST};
use crate::replies::{Page, PageError, PageReply};
use crate::requests::{Query, Visit};

pub(crate) use self::facts::order_check_form;

/// The most characters of a format on the page; a download is complete.
const SHOWN: usize = 2_000;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let details = find(&visit).await?;
    let shown_notice = visit.done(|what| (what == "marked").then_some("The marks are saved."));
    let shown_notice = shown_notice.unwrap_or_default();
    let check = order_check_form(&visit.refract, &details.result);
    Ok(page(&visit, &details, &shown_notice, &check).await?.reply())
}

/// Sends the result as a file, in the API's format.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let format = Format::parse(visit.sent.values.get("format")).ok_or(PageError::NotFound)?;
    let result = find(&visit).await?.result;
    let ending = match format {
        Format::Raw => "raw.json",
        Format::Json | Format::Csv | Format::Tsv | Format::Jsonl => format.name(),
    };
    let name = format!("{}-{}.{ending}", result.prism_slug(), result.id());
    let bytes = rendered(&result, format);
    Ok(PageReply::file(&name, format.content_type(), bytes))
}

/// Saves and removes marks.
pub(crate) async fn mark(visit: Visit) -> Result<PageReply, PageError> {
    let details = find(&visit).await?;
    let origin = MarkOrigin {
        marked_by: visit.annotator(),
        ..MarkOrigin::default()
    };
    let changes = changes(&visit.sent.form, &details.result);
    let marks = visit.refract.marks();
    let saving = marks.mark(&details.result, changes, &origin);
    match saving.await {
        Ok(()) => {
            let query = Query::default().with(LIST, visit.sent.query.get(LIST));
            let query = query.with("done", Some("marked")).in_address();
            let address = format!("/results/{}{query}", details.result.id());
            Ok(PageReply::see_other(&address))
        }
        Err(MarksError::ResultGone) => Err(PageError::NotFound),
        Err(MarksError::Internal(error)) => Err(error.into()),
        Err(MarksError::InvalidRows(errors)) => {
            let shown_notice = html! {
                "The marks were not saved."
                ul { @for (_, error) in errors.listed() { li { bdi { (error) } } } }
            };
            refused(&visit, &details, &shown_notice).await
        }
    }
}

/// Retries a failed result.
pub(crate) async fn retry(visit: Visit) -> Result<PageReply, PageError> {
    let details = find(&visit).await?;
    let actor = visit.actor();
    let id = details.result.id();
    match visit.refract.results().retry_as(actor, id).await {
        Ok(result) if visit.sent.form.has("try") => {
            let query = Query::default().with("result", Some(&result.id().to_string()));
            let (prism, query) = (prism_address(result.prism()), query.in_address());
            Ok(PageReply::see_other(&format!("{prism}/try{query}")))
        }
        Ok(result) => Ok(PageReply::see_other(&format!("/results/{}", result.id()))),
        Err(CallError::Internal(error)) => Err(error.into()),
        Err(refusal) => refused(&visit, &details, &html! { (refusal) }).await,
    }
}

/// Asks each choice again with its options in other orders and shows the differences. Nothing is
/// saved.
pub(crate) async fn check_orders(visit: Visit) -> Result<PageReply, PageError> {
    let details = find(&visit).await?;
    let measures = visit.refract.measures();
    let checked = measures.check_orders(&details.result, MOST_ORDERS);
    let check = orders(&details.result, &checked.await?);
    Ok(page(&visit, &details, &html! {}, &check).await?.reply())
}

async fn refused(
    visit: &Visit,
    details: &ResultDetails,
    words: &Markup,
) -> Result<PageReply, PageError> {
    let shown_notice = notice(NoticeKind::Refused, words);
    let check = order_check_form(&visit.refract, &details.result);
    let page = page(visit, details, &shown_notice, &check).await?;
    Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY).reply())
}

/// The warning about a text that the model server did not read whole.
pub(crate) fn cut_notice(tokens: u64) -> Markup {
    let words = html! {
        "The model server read only " (count(tokens)) " tokens of this text, which has far more: "
        "the answers may be about a part of it"
    };
    notice(NoticeKind::Warning, &words)
}

/// The form that retries a failed result. `is_try` redirects to the page where texts are tried.
pub(crate) fn retry_form(result: &ReadableResult, is_try: bool) -> Markup {
    html! {
        form method="post" action={ "/results/" (result.id()) "/retry" } {
            @if is_try { input type="hidden" name="try" value="1"; }
            button type="submit" { "Retry" }
        }
    }
}

async fn find(visit: &Visit) -> Result<ResultDetails, PageError> {
    let id = ResultId::parse(visit.sent.values.get("id")).ok_or(PageError::NotFound)?;
    match visit.refract.results().details(visit.account(), id).await {
        Ok(details) => Ok(details),
        Err(CallError::Internal(error)) => Err(error.into()),
        Err(_) => Err(PageError::NotFound),
    }
}

async fn page<'a>(
    visit: &'a Visit,
    details: &ResultDetails,
    shown_notice: &Markup,
    check: &Markup,
) -> Result<Page<'a>, PageError> {
    let result = &details.result;
    let view = result.view();
    let actor = actor(visit, details.actor).await?;
    let may_retry = details.retried_as.is_none() && result.prism().archived_at.is_none();
    let main = html! {
        (place_in_list(visit, result).await?)
        (shown_notice)
        @if let Some(error) = view.status.error() {
            (notice(NoticeKind::Refused, &html! { "The result is failed: " bdi { (error) } }))
            @if may_retry { (retry_form(result, false)) }
        }
        @if let Some(retried) = details.retry_of { p { "Retry of " a href={ "/results/" (retried) } { "the failed result" } } }
        @if let Some(retry) = details.retried_as { p { "Retried as " a href={ "/results/" (retry) } { "another result" } } }
        @if let Some(tokens) = details.provenance.truncated_to { (cut_notice(tokens)) }
        div.split.result {
            section aria-label="What was sent" {
                h2.unseen { "What was sent" }
                @for (key, value) in view.fields.as_slice() {
                    h3 { (label(result, key.as_str())) " " code.soft { (key) } }
                    (whole_text(value))
                }
                @if let Some(context) = result.submission().context() {
                    h3 { "Context of this call" }
                    (whole_text(context))
                }
            }
            section aria-label="Answers" {
                h2.unseen { "Answers" }
                @if result.is_ok() {
                    (answers_with_marks(details, &visit.annotator(), &kept_list(visit)))
                    details {
                        summary { "Keys" }
                        p.hint {
                            "Mark the question in focus: " kbd { "1" } " to " kbd { "9" } " for its outcomes, "
                            kbd { "y" } " and " kbd { "n" } " for yes and no, " kbd { "u" } " to undo, " kbd { "s" } " to skip. "
                            kbd { "→" } " and " kbd { "←" } " go to the next and the previous result."
                        }
                    }
                }
                @if visit.visitor.role.may(Role::Editor) {
                    p { a.button href={ (prism_address(result.prism())) "/examples/new?result=" (result.id()) } { "Keep as an example" } }
                }
                (check)
                p #progress.hint role="status" aria-live="polite" {}
            }
        }
        details {
            summary { "What happened" }
            (history(details, &actor))
        }
        details {
            summary { "About this result" }
            (facts(details, &actor))
        }
        @for name in Format::NAMES {
            @if let Some(format) = Format::parse(name) { (as_the_api(result, format)) }
        }
    };
    let title = format!("Result · {}", result.prism().name);
    let page = visit.prism_page(result.prism(), PrismTab::Results, title, &main);
    Ok(page.script("try.js").script("mark.js"))
}

fn label<'a>(result: &'a ReadableResult, key: &'a str) -> &'a str {
    let mut fields = result.version().fields().iter();
    let found = fields.find(|field| field.key.as_str() == key);
    found.map_or(key, |field| &field.label)
}

fn as_the_api(result: &ReadableResult, format: Format) -> Markup {
    let bytes = rendered(result, format);
    let text = String::from_utf8_lossy(&bytes);
    let (shown, rest) = beginning(&text, SHOWN);
    html! {
        details {
            summary { "As the API gives it: " (format.name()) }
            pre { bdi { (shown) } @if !rest.is_empty() { "…" } }
            p { a href={ "/results/" (result.id()) "/as/" (format.name()) } download { "Download " (format.name()) } }
        }
    }
}

fn rendered(result: &ReadableResult, format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    // writing to a `Vec` cannot fail
    let _ = render(format, &result.columns(), &result.view(), &mut bytes);
    bytes
}

/// The query of a result's page that keeps the list from which one came; empty without a list.
fn kept_list(visit: &Visit) -> String {
    let list = visit.sent.query.get(LIST);
    Query::default().with(LIST, list).in_address()
}

/// Links to the results beside this one and back to the list. Without a list in the address it is
/// the list of all results of the prism.
async fn place_in_list(visit: &Visit, result: &ReadableResult) -> Result<Markup, PageError> {
    let lens = visit.refract.lenses().of(result.prism().clone()).await?;
    let results = visit.refract.results();
    let columns = results.searchable_columns(&lens).await?;
    let list = visit.sent.query.get(LIST).unwrap_or_default();
    let list = Query::parse(list.trim_start_matches('?'));
    let values = FilterValues::read(&list, &lens, &columns);
    let (search, id, limits) = (&values.filter, result.id(), values.limits());
    let beside = if values.has_errors() {
        Neighbours::default()
    } else if values.is_least_sure_first() {
        let finding = results.least_sure_neighbours(&lens, search, id, limits);
        finding.await?
    } else {
        results.neighbours(&lens, search, id, limits).await?
    };
    let kept = kept_list(visit);
    let back = format!(
        "{}/results{}",
        prism_address(result.prism()),
        list.in_address()
    );
    Ok(html! {
        nav.row aria-label="Place in the list" {
            @if let Some(previous) = beside.previous {
                a.button href={ "/results/" (previous) (kept) } rel="prev" { "Previous" }
            }
            @if let Some(next) = beside.next {
                a.button href={ "/results/" (next) (kept) } rel="next" { "Next" }
            }
            a href=(back) { @if values.is_narrowed() { "Back to the filtered list" } @else { "All results" } }
        }
    })
}
