//! `/events`: the account's audit log. Owners read, filter and download it.

use std::cmp::Reverse;
use std::collections::HashSet;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::event::{Actor, ActorKind, EventAction, EventDetail, EventTarget, TargetKind};
use refract_domain::ids::{EventId, parse_uuid};
use refract_identity::events::{EventActors, EventChoices, EventFilter, EventRange, ListedEvent};

use crate::components::{
    FormField, ListFilters, NEWER, NoticeKind, OLDER, TEXT_FORMATS, downloads, empty_state,
    media_type, moment, neighbours, notice, page_address, page_of, row_format, run_address,
    stacked_table,
};
use crate::pages::keys::address_of_key;
use crate::pages::results::marks_of;
use crate::replies::{PageError, PageReply, Section};
use crate::requests::{Query, Visit};

/// Events per page.
const SHOWN: u32 = 50;
/// The most prisms, keys and people each that the filter offers for being the newest.
const OFFERED: usize = 50;
/// The most people whose last marks are named.
const MARKED_LAST: usize = 5;

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
        // the marks are read through for it: once, not on each page
        @if range == EventRange::Newest && !query.is_narrowed() { (last_marks(&visit).await?) }
        @if found.events.is_empty() {
            (nothing(&query, range))
        } @else {
            div.row.spread {
                p.soft { "Newest first" }
                (downloads(&query.query, ADDRESS, &TEXT_FORMATS))
            }
            (event_table(&found.events))
        }
        (neighbours("Pages of events", address(NEWER, found.newer), address(OLDER, found.older)))
    };
    page(&visit, &query, &found.events, &rest, StatusCode::OK).await
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
        html! { "A filter is not valid, so nothing was looked for. Change what is marked." };
    let rest = notice(NoticeKind::Refused, &words);
    page(visit, query, &[], &rest, StatusCode::UNPROCESSABLE_ENTITY).await
}

async fn page(
    visit: &Visit,
    query: &EventQuery,
    events: &[ListedEvent],
    rest: &Markup,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let choices = visit.refract.events().choices(visit.account()).await?;
    let main = html! {
        h1 { "Events" }
        p {
            "What was changed in your account, by whom and when. Nothing here can be changed or deleted, \
             and no text of a result is ever part of it. Marks are no changes: "
            a href="/people" { "People" } " leads to what each marked last, and each prism's Review to all marks."
        }
        (event_form(query, &choices, events))
        (rest)
    };
    let page = visit.page("Events", main).section(Section::Events);
    Ok(page.status(status).reply())
}

/// Who marked last, with the way to their marks.
async fn last_marks(visit: &Visit) -> Result<Markup, PageError> {
    let people = visit.refract.people().list(visit.account()).await?;
    let ids: Vec<_> = people.iter().map(|person| person.id).collect();
    let marks = visit.refract.marks().last_of_people(&ids).await?;
    let mut last: Vec<_> = people
        .iter()
        .filter_map(|person| Some((person, *marks.get(&person.id)?)))
        .collect();
    last.sort_by_key(|(_, mark)| Reverse(mark.at));
    Ok(html! {
        @if !last.is_empty() {
            p.row {
                span.soft { "Marked last:" }
                @for (person, mark) in last.iter().take(MARKED_LAST) {
                    span {
                        a href=(marks_of(person.id, *mark)) { bdi { (person.name.as_deref().unwrap_or(person.email.as_str())) } }
                        " " (moment(mark.at))
                    }
                }
            }
        }
    })
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

/// The table, newest first.
fn event_table(events: &[ListedEvent]) -> Markup {
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
            td data-label=[label("Note", event.stamp.note.as_ref())] { (note(listed)) }
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

/// The note, in which a file run has the name of its file.
fn note(listed: &ListedEvent) -> Markup {
    let note = listed.event.stamp.note.as_ref();
    let Some((run, file)) = &listed.file_run else {
        return html! { @if note.is_some() { span { (detail(note)) } } };
    };
    let id = run.to_string();
    let words = note.map_or("", EventDetail::as_str);
    let (before, after) = words.split_once(&id).unwrap_or((words, ""));
    html! {
        span { (before) a href=(run_address(*run)) title=(id) { bdi { (file) } } (after) }
    }
}

fn detail(detail: Option<&EventDetail>) -> Markup {
    html! { @if let Some(detail) = detail { bdi { (detail) } } }
}

fn label(label: &'static str, detail: Option<&EventDetail>) -> Option<&'static str> {
    detail.map(|_| label)
}

/// The address of the events about a target.
pub(crate) fn events_about(target: EventTarget) -> String {
    format!("{ADDRESS}?target={}", target_text(target))
}

/// The address of the events of an actor.
pub(crate) fn events_of(actor: Actor) -> String {
    format!("{ADDRESS}?by={}", actor_text(actor))
}

/// The address of the page.
const ADDRESS: &str = "/events";
/// The query parameters of the filters, which are also the names of the form's inputs.
const NAMES: [&str; 5] = ["by", "action", "target", "from", "to"];

/// The parsed filters of the events, with their validation errors.
type EventQuery = ListFilters<EventFilter>;

impl EventQuery {
    /// Parses the filters of the events.
    fn read(query: &Query) -> Self {
        let mut read = Self::unread(query, &NAMES);
        let choose = "is none of the list: choose one";
        let actor = read.read_one("by", choose, actor);
        let (since, until) = read.read_period();
        read.filter = EventFilter {
            actors: actor.map(|actor| EventActors {
                kind: actor.kind(),
                ids: actor.id().into_iter().collect(),
            }),
            action: read.read_one("action", choose, EventAction::named),
            target: read.read_one("target", choose, target_of),
            about: None,
            since,
            until,
        };
        read
    }
}

/// An actor as the value of a query parameter.
fn actor_text(actor: Actor) -> String {
    let kind = actor.kind().name();
    actor
        .id()
        .map_or_else(|| kind.to_owned(), |id| format!("{kind}:{id}"))
}

/// A target as the value of a query parameter.
fn target_text(target: EventTarget) -> String {
    format!("{}:{}", target.kind().name(), target.id())
}

fn actor(text: &str) -> Option<Actor> {
    match text.split_once(':') {
        None => Actor::saved(ActorKind::named(text)?, None),
        Some((kind, id)) => Actor::saved(ActorKind::named(kind)?, Some(parse_uuid(id)?)),
    }
}

fn target_of(text: &str) -> Option<EventTarget> {
    let (kind, id) = text.split_once(':')?;
    Some(EventTarget::saved(
        TargetKind::named(kind)?,
        parse_uuid(id)?,
    ))
}

/// The form with the values that were sent, valid or not.
fn event_form(query: &EventQuery, choices: &EventChoices, events: &[ListedEvent]) -> Markup {
    html! {
        form.filters method="get" action=(ADDRESS) aria-label="Filters" {
            (actors(&query.field("by", "Who"), choices, events))
            (actions(&query.field("action", "Did what")))
            (targets(&query.field("target", "To what"), choices, events))
            (query.period())
            button.main type="submit" { "Filter" }
            @if query.is_narrowed() || query.has_errors() { a.button href=(ADDRESS) { "Clear" } }
        }
    }
}

fn actors(field: &FormField<'_>, choices: &EventChoices, events: &[ListedEvent]) -> Markup {
    let listed = choices.actors.iter();
    let listed: Vec<_> = listed
        .map(|(actor, name)| (actor_text(*actor), name.as_str()))
        .collect();
    let is_listed = listed.iter().any(|(sent, _)| sent == field.value);
    let of_page = events.iter().map(|it| actor_text(it.event.stamp.actor));
    field.select(&html! {
        option value="" { "anybody" }
        (offered(field, &listed, &of_page.collect()))
        // a removed person, or a key
        @if !is_listed { (unlisted(field, "somebody else")) }
    })
}

fn actions(field: &FormField<'_>) -> Markup {
    field.select(&html! {
        option value="" { "anything" }
        @for action in EventAction::ALL { (field.option(action.name(), action.label())) }
    })
}

fn targets(field: &FormField<'_>, choices: &EventChoices, events: &[ListedEvent]) -> Markup {
    let groups = [
        (TargetKind::Prism, "Prisms"),
        (TargetKind::Key, "Keys"),
        (TargetKind::Person, "People"),
    ];
    let listed = |kind| {
        let of_kind = choices
            .targets
            .iter()
            .filter(move |(it, _)| it.kind() == kind);
        of_kind
            .map(|(target, name)| (target_text(*target), name.as_str()))
            .collect::<Vec<_>>()
    };
    let listed = groups.map(|(kind, heading)| (heading, listed(kind)));
    let mut all = listed.iter().flat_map(|(_, targets)| targets);
    let is_listed = all.any(|(sent, _)| sent == field.value);
    let of_page = events
        .iter()
        .map(|it| target_text(it.event.target))
        .collect();
    field.select(&html! {
        option value="" { "anything" }
        @for (heading, targets) in &listed {
            optgroup label=(heading) { (offered(field, targets, &of_page)) }
        }
        @if !is_listed { (unlisted(field, "something else")) }
    })
}

/// The options for the newest of a list in the order of creation, for those in the page's events, and
/// for the chosen one: an account may have thousands.
fn offered(field: &FormField<'_>, listed: &[(String, &str)], of_page: &HashSet<String>) -> Markup {
    let older = listed.len().saturating_sub(OFFERED);
    html! {
        @for (place, (sent, name)) in listed.iter().enumerate() {
            @if place >= older || sent == field.value || of_page.contains(sent) { (field.option(sent, name)) }
        }
    }
}

/// The option for a sent value that is not in the list.
fn unlisted(field: &FormField<'_>, words: &str) -> Markup {
    html! { @if !field.value.is_empty() { (field.option(field.value, words)) } }
}

#[cfg(test)]
mod tests;
