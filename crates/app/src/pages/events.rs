//! `/events`: the account's audit log. Owners read, filter and download it.

mod event_form;
mod event_query;
mod event_table;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::ids::EventId;
use refract_service::events::EventRange;

use self::event_form::event_form;
use self::event_query::{ADDRESS, EventQuery};
use self::event_table::event_table;
use crate::components::empty_state::empty_state;
use crate::components::list_pages::{
    NEWER, OLDER, downloads, media_type, neighbours, page_address, page_of, row_format,
};
use crate::components::notice::{NoticeKind, notice};
use crate::replies::page::Section;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Events per page.
const SHOWN: u32 = 50;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let query = EventQuery::read(&visit.sent.query);
    if query.has_errors() {
        return refused(&visit, &query).await;
    }
    let account = visit.account();
    let range = page_of(
        &visit.sent.query,
        EventId::parse,
        EventRange::OlderThan,
        EventRange::NewerThan,
    )?;
    let range = range.unwrap_or(EventRange::Newest);
    let events = visit.refract.events();
    let found = events.find(account, query.filter.clone(), range, SHOWN);
    let found = found.await?;
    let address = |side, id| page_address(ADDRESS, &query.query, side, id);
    let rest = html! {
        @if found.events.is_empty() {
            (nothing(&query, range))
        } @else {
            div.row.spread {
                p.soft { "Newest first" }
                (downloads(&query.query, ADDRESS))
            }
            (event_table(&found.events))
        }
        (neighbours("Pages of events", address(NEWER, found.newer), address(OLDER, found.older)))
    };
    page(&visit, &query, &rest, StatusCode::OK).await
}

/// Sends the filtered events as a file. The download itself is logged as an event.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let format = row_format(&visit.sent.query)?;
    let query = EventQuery::read(&visit.sent.query);
    if query.has_errors() {
        return refused(&visit, &query).await;
    }
    let actor = visit.actor();
    let events = visit.refract.events();
    let chunks = events.export(&actor, query.filter, format).await?;
    let name = format!("events.{}", format.name());
    Ok(PageReply::streamed_file(&name, media_type(format), chunks))
}

/// The form again, with an error at each invalid filter.
async fn refused(visit: &Visit, query: &EventQuery) -> Result<PageReply, PageError> {
    let words =
        html! { "A filter cannot be read, so nothing was looked for. Change what is marked." };
    let rest = notice(NoticeKind::Refused, &words);
    page(visit, query, &rest, StatusCode::UNPROCESSABLE_ENTITY).await
}

async fn page(
    visit: &Visit,
    query: &EventQuery,
    rest: &Markup,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let choices = visit.refract.events().choices(visit.account()).await?;
    let main = html! {
        h1 { "Events" }
        p {
            "What was changed in your account, by whom and when. Nothing here can be changed or deleted, \
             and no text of a result is ever part of it."
        }
        (event_form(query, &choices))
        (rest)
    };
    let page = visit.page("Events", main).section(Section::Events);
    Ok(page.status(status).reply())
}

fn nothing(query: &EventQuery, range: EventRange) -> Markup {
    if query.is_narrowed() || range != EventRange::Newest {
        let clear = html! { a.button href=(ADDRESS) { "Show all events" } };
        return empty_state("No event matches.", &clear);
    }
    empty_state(
        "Whatever is changed in your account from now on is written down here.",
        &html! {},
    )
}
