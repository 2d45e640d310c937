//! Events as rows of a table.

use maud::{Markup, html};
use refract_domain::event::{ActorKind, EventDetail, EventTarget};
use refract_service::events::ListedEvent;

use crate::components::moment::moment;
use crate::components::table::stacked_table;
use crate::pages::keys::address_of_key;

/// The table, newest first.
pub(super) fn event_table(events: &[ListedEvent]) -> Markup {
    let rows = html! { @for event in events { (row(event)) } };
    let headings = [
        "When", "Who", "Did", "To what", "From", "To", "Note", "Request",
    ];
    stacked_table("Events, newest first", &headings, &rows)
}

fn row(listed: &ListedEvent) -> Markup {
    let event = &listed.event;
    let request = event.stamp.request.as_ref();
    html! {
        tr {
            th.together scope="row" { (moment(event.stamp.at)) }
            td data-label="Who" { (who(listed)) }
            td title=(event.action.name()) { (event.action.label()) }
            td data-label="To what" { (target(listed)) }
            td data-label=[label("From", event.from.as_ref())] { (detail(event.from.as_ref())) }
            td data-label=[label("To", event.to.as_ref())] { (detail(event.to.as_ref())) }
            td data-label=[label("Note", event.stamp.note.as_ref())] { (detail(event.stamp.note.as_ref())) }
            td data-label=[request.map(|_| "Request")] {
                @if let Some(request) = request { code.soft { (request.as_str()) } }
            }
        }
    }
}

fn who(listed: &ListedEvent) -> Markup {
    let is_person = listed.event.stamp.actor.kind() == ActorKind::Person;
    html! {
        @if is_person { bdi title=(listed.by.reference) { (listed.by.name) } }
        @else { span.soft { bdi { (listed.by.name) } } }
    }
}

/// The target, with a link to its page.
fn target(listed: &ListedEvent) -> Markup {
    let name = html! { bdi { (listed.target.name) } };
    match listed.event.target {
        EventTarget::Account(_) => html! { span.soft { "the account" } },
        // linked by id: a slug might clash with a fixed address of the app
        EventTarget::Prism(prism) => html! { a href={ "/prisms/" (prism) } { (name) } },
        EventTarget::Key(key) => html! { a href=(address_of_key(key)) { (name) } },
        EventTarget::Person(_) => html! { a href="/people" { (name) } },
        EventTarget::Unknown(_) => name,
    }
}

fn detail(detail: Option<&EventDetail>) -> Markup {
    html! { @if let Some(detail) = detail { bdi { (detail) } } }
}

fn label(label: &'static str, detail: Option<&EventDetail>) -> Option<&'static str> {
    detail.map(|_| label)
}
