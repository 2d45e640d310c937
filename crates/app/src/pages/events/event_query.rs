//! The filters of the events, parsed from an address, and their form.

use maud::{Markup, html};
use refract_domain::event::{Actor, ActorKind, EventAction, EventTarget, TargetKind};
use refract_domain::ids::parse_uuid;
use refract_identity::events::{EventActors, EventChoices, EventFilter};

use crate::components::{FormField, ListFilters};
use crate::requests::Query;

/// The address of the page.
pub(super) const ADDRESS: &str = "/events";
/// The query parameters of the filters, which are also the names of the form's inputs.
const NAMES: [&str; 5] = ["by", "action", "target", "from", "to"];

/// The parsed filters of the events, with their validation errors.
pub(super) type EventQuery = ListFilters<EventFilter>;

impl EventQuery {
    /// Parses the filters of the events.
    pub(super) fn read(query: &Query) -> Self {
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
            target: read.read_one("target", choose, target),
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

fn target(text: &str) -> Option<EventTarget> {
    let (kind, id) = text.split_once(':')?;
    Some(EventTarget::saved(
        TargetKind::named(kind)?,
        parse_uuid(id)?,
    ))
}

/// The form with the values that were sent, valid or not.
pub(super) fn event_form(query: &EventQuery, choices: &EventChoices) -> Markup {
    html! {
        form.filters method="get" action=(ADDRESS) aria-label="Filters" {
            (actors(&query.field("by", "Who"), choices))
            (actions(&query.field("action", "Did what")))
            (targets(&query.field("target", "To what"), choices))
            (query.period())
            button.main type="submit" { "Filter" }
            @if query.is_narrowed() || query.has_errors() { a.button href=(ADDRESS) { "Clear" } }
        }
    }
}

fn actors(field: &FormField<'_>, choices: &EventChoices) -> Markup {
    let listed = choices.actors.iter();
    let listed: Vec<_> = listed
        .map(|(actor, name)| (actor_text(*actor), name.as_str()))
        .collect();
    let is_listed = listed.iter().any(|(sent, _)| sent == field.value);
    field.select(&html! {
        option value="" { "anybody" }
        @for (sent, name) in &listed { (field.option(sent, name)) }
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

fn targets(field: &FormField<'_>, choices: &EventChoices) -> Markup {
    let groups = [
        (TargetKind::Prism, "Prisms"),
        (TargetKind::Key, "Keys"),
        (TargetKind::Person, "People"),
    ];
    let mut targets = choices.targets.iter();
    let is_listed = targets.any(|(target, _)| target_text(*target) == field.value);
    field.select(&html! {
        option value="" { "anything" }
        @for (kind, heading) in groups {
            optgroup label=(heading) {
                @for (target, name) in choices.targets.iter().filter(|(it, _)| it.kind() == kind) {
                    (field.option(&target_text(*target), name))
                }
            }
        }
        @if !is_listed { (unlisted(field, "something else")) }
    })
}

/// The option for a sent value that is not in the list.
fn unlisted(field: &FormField<'_>, words: &str) -> Markup {
    html! { @if !field.value.is_empty() { (field.option(field.value, words)) } }
}

#[cfg(test)]
mod tests {
    use refract_domain::ids::{PersonId, PrismId};

    use super::*;

    const ID: &str = "0190b8f2-0000-7000-8000-0000000000aa";

    fn read(query: &str) -> EventQuery {
        EventQuery::read(&Query::parse(query))
    }

    #[test]
    fn filters_are_read_and_kept_in_the_address() {
        let person = PersonId::parse(ID).unwrap();
        let query = read(&format!(
            "by=person:{ID}&action=lens_set&target=prism:{ID}&from=2026-05-04&to=2026-05-04&older={ID}"
        ));
        assert!(!query.has_errors() && query.is_narrowed());
        let actors = query.filter.actors.unwrap();
        assert_eq!(
            (actors.kind, actors.ids),
            (ActorKind::Person, vec![person.uuid()])
        );
        assert_eq!(query.filter.action, Some(EventAction::LensSet));
        let prism = EventTarget::Prism(PrismId::new(person.uuid()));
        assert_eq!(query.filter.target, Some(prism));
        let (since, until) = (query.filter.since.unwrap(), query.filter.until.unwrap());
        assert_eq!((until - since).num_hours(), 24);
        assert_eq!(query.query.get("older"), None);
        assert_eq!(
            actor(&actor_text(Actor::Person(person))),
            Some(Actor::Person(person))
        );
        assert_eq!(actor(&actor_text(Actor::Node)), Some(Actor::Node));
        assert_eq!(target(&target_text(prism)), Some(prism));
        assert!(!read("by=&action=+&target=&from=&to=").is_narrowed());
    }

    #[test]
    fn what_cannot_be_read_is_reported_at_its_filter() {
        for (query, name) in [
            ("by=person", "by"),
            ("by=person:1", "by"),
            ("by=terminal", "by"),
            ("action=lens", "action"),
            ("target=prism", "target"),
            (
                "target=result:0190b8f2-0000-7000-8000-0000000000aa",
                "target",
            ),
            ("from=yesterday", "from"),
            ("from=2026-05-04&to=2026-05-03", "to"),
        ] {
            assert!(!read(query).error(name).is_empty(), "{query}");
        }
    }
}
