//! `/events`: what was changed in the account, by whom. Owners read, filter and download it.

mod event_form;
mod event_query;
mod event_table;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::ids::EventId;
use refract_lens_rendering::RowFormat;
use refract_service::InternalError;
use refract_service::events::{EventRange, FoundEvents};

use self::event_form::event_form;
use self::event_query::{ADDRESS, EventQuery};
use self::event_table::event_table;
use crate::components::empty_state::empty_state;
use crate::components::notice::{NoticeKind, notice};
use crate::page::Section;
use crate::page_refusal::PageRefusal;
use crate::page_reply::PageReply;
use crate::sent::Query;
use crate::visit::Visit;

/// Events of one page.
const SHOWN: u32 = 50;
/// The names of the query that say which page is shown.
const OLDER: &str = "older";
const NEWER: &str = "newer";

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageRefusal> {
    let query = EventQuery::read(&visit.sent.query);
    if query.has_faults() {
        return refused(&visit, &query).await;
    }
    let account = visit.account();
    let range = range(&visit.sent.query)?;
    let events = visit.refract.events();
    let finding = events.find(account, query.filter.clone(), range, SHOWN);
    let found = finding.await.map_err(InternalError::from)?;
    let rest = html! {
        @if found.events.is_empty() {
            (nothing(&query, range))
        } @else {
            div.row.spread {
                p.soft { "Newest first" }
                (downloads(&query.query))
            }
            (event_table(&found.events))
        }
        (neighbours(&found, &query.query))
    };
    page(&visit, &query, &rest, StatusCode::OK).await
}

/// Sends the events that the filters select as a file. That somebody downloads them is an event too.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageRefusal> {
    let format = visit.sent.query.get("format").unwrap_or("csv");
    let format = RowFormat::parse(format).ok_or(PageRefusal::NotFound)?;
    let query = EventQuery::read(&visit.sent.query);
    if query.has_faults() {
        return refused(&visit, &query).await;
    }
    let caller = visit.caller();
    let events = visit.refract.events();
    let chunks = events.export(&caller, query.filter, format).await?;
    let name = format!("events.{}", format.name());
    let media_type = super::results::media_type(format);
    Ok(PageReply::streamed_file(&name, media_type, chunks))
}

/// The form again, with what is wrong beside each input.
async fn refused(visit: &Visit, query: &EventQuery) -> Result<PageReply, PageRefusal> {
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
) -> Result<PageReply, PageRefusal> {
    let choosing = visit.refract.events().choices(visit.account());
    let choices = choosing.await.map_err(InternalError::from)?;
    let main = html! {
        h1 { "Events" }
        p {
            "What was changed in your account, by whom and when. Nothing here can be changed or deleted, \
             and no text of a result is ever part of it."
        }
        (event_form(&visit.sent.query, query, &choices))
        (rest)
    };
    let page = visit.page("Events", main).section(Section::Events);
    Ok(page.status(status).reply())
}

/// Which page of the events an address names.
fn range(query: &Query) -> Result<EventRange, PageRefusal> {
    let id = |text| EventId::parse(text).ok_or(PageRefusal::NotFound);
    match (query.get(OLDER), query.get(NEWER)) {
        (Some(older), _) => Ok(EventRange::OlderThan(id(older)?)),
        (None, Some(newer)) => Ok(EventRange::NewerThan(id(newer)?)),
        (None, None) => Ok(EventRange::Newest),
    }
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

fn downloads(query: &Query) -> Markup {
    html! {
        p.row {
            span { "Download just these:" }
            @for format in RowFormat::NAMES {
                @let query = query.with("format", Some(format));
                a href={ (ADDRESS) "/download" (query.in_address()) } download { (format) }
            }
        }
    }
}

fn neighbours(found: &FoundEvents, query: &Query) -> Markup {
    let address = |name, id: Option<EventId>| {
        let query = query.with(name, Some(&id?.to_string()));
        Some(format!("{ADDRESS}{}", query.in_address()))
    };
    let (newer, older) = (address(NEWER, found.newer), address(OLDER, found.older));
    html! {
        @if newer.is_some() || older.is_some() {
            nav.row aria-label="Pages of events" {
                @if let Some(newer) = newer { a.button href=(newer) rel="prev" { "Newer" } }
                @if let Some(older) = older { a.button href=(older) rel="next" { "Older" } }
            }
        }
    }
}
