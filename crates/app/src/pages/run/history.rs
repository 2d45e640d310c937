//! What was done with a run: by whom, when, and what nodes did of themselves.

use maud::{Markup, html};
use refract_domain::event::{Event, EventDetail, EventTarget};
use refract_domain::result::file_run::FileRunState;
use refract_service::events::{EventFilter, EventRange, ListedEvent};

use super::run_view::RunView;
use crate::components::file_run::state_words;
use crate::components::moment::moment;
use crate::components::table::table;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// The most events that are shown.
const NEWEST: u32 = 30;

/// The events of the run, newest first.
pub(super) async fn section(visit: &Visit, view: &RunView) -> Result<Markup, PageError> {
    let filter = EventFilter {
        target: Some(EventTarget::Prism(view.run.prism)),
        about: Some(EventDetail::file_run(view.run.id)),
        since: Some(view.run.made_at),
        ..EventFilter::default()
    };
    let events = visit.refract.events();
    let found = events.find(visit.account(), filter, EventRange::Newest, NEWEST);
    let found = found.await?;
    let rows = html! { @for event in &found.events { (row(event)) } };
    Ok(html! {
        details {
            summary { "What was done, by whom" }
            (table("Changes of this run, newest first", &["When", "What", "Who"], &rows))
        }
    })
}

fn row(listed: &ListedEvent) -> Markup {
    let event = &listed.event;
    html! {
        tr {
            td { (moment(event.stamp.at)) }
            td { (what(event)) }
            td { bdi { (listed.by.name) } }
        }
    }
}

/// The change in people's words.
fn what(event: &Event) -> Markup {
    let state = |detail: &Option<EventDetail>| FileRunState::parse(detail.as_ref()?.as_str());
    let details = match (state(&event.from), state(&event.to)) {
        (Some(from), Some(to)) if from == to => return html! { "matched the columns" },
        (Some(from), Some(to)) => html! { (state_words(from)) " → " (state_words(to)) },
        _ => html! {
            @if let Some(from) = &event.from { (from) " → " }
            @if let Some(to) = &event.to { (to) }
        },
    };
    html! { (event.action.label()) div.soft.details { (details) } }
}
