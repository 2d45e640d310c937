//! What was done with a run: by whom, when, and what nodes did of themselves.

use maud::{Markup, html};
use refract_domain::event::{EventDetail, EventTarget};
use refract_service::events::{EventFilter, EventRange, ListedEvent};

use super::run_view::RunView;
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
            td {
                (event.action.label())
                @if event.from.is_some() || event.to.is_some() {
                    div.soft.details {
                        @if let Some(from) = &event.from { (from) " " }
                        "→ "
                        @if let Some(to) = &event.to { (to) }
                    }
                }
            }
            td { bdi { (listed.by.name) } }
        }
    }
}
