//! What happened to a result, in the order of time: it was asked for, retried, and marked.

use maud::{Markup, html};
use refract_domain::result::mark::{self, Mark};
use refract_service::results::ResultDetails;

use crate::components::moment::moment;
use crate::components::number::count;
use crate::components::table::table;

/// The table of what happened, the oldest first.
pub(super) fn history(details: &ResultDetails, actor: &Markup) -> Markup {
    let view = details.result.view();
    let mut marks: Vec<&Mark> = details.marks.iter().collect();
    marks.sort_by_key(|mark| mark.marked_at);
    let rows = html! {
        tr {
            td { (moment(view.created_at)) }
            td {
                @if let Some(first) = details.retry_of { "Retry of " a href={ "/results/" (first) } { "a failed result" } ": " }
                "Version " (view.version) " "
                @match view.status.error() {
                    None => { "answered" },
                    Some(_) => { "failed" },
                }
                " after " (count(view.took_ms)) " ms"
            }
            td { (actor) }
        }
        @if let Some(retry) = details.retried_as {
            tr { td {} td { "Retried as " a href={ "/results/" (retry) } { "another result" } } td {} }
        }
        @for mark in marks { (marked(details, mark)) }
    };
    table(
        "What happened to this result, the oldest first",
        &["When", "What", "Who"],
        &rows,
    )
}

fn marked(details: &ResultDetails, mark: &Mark) -> Markup {
    let question = details.result.version().question(&mark.question);
    let outcomes = question.map(mark::outcomes);
    let label =
        outcomes.and_then(|mut outcomes| outcomes.find(|it| it.key == mark.outcome.as_str()));
    html! {
        tr {
            td { (moment(mark.marked_at)) }
            td {
                "Marked " code { (mark.question) } " as "
                span { bdi { (label.map_or(mark.outcome.as_str(), |outcome| outcome.label)) } }
                @if let Some(note) = &mark.note { div.soft.details { bdi { (note.as_str()) } } }
            }
            td { @if let Some(name) = &mark.marked_by { bdi { (name.as_str()) } } }
        }
    }
}
