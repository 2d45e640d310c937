//! The filters of the events, parsed from an address.

use refract_domain::event::{Actor, ActorKind, EventAction, EventTarget, TargetKind};
use refract_domain::ids::parse_uuid;
use refract_service::events::{EventActors, EventFilter};

use crate::components::list_filters::ListFilters;
use crate::requests::page_request::Query;

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
pub(super) fn actor_text(actor: Actor) -> String {
    let kind = actor.kind().name();
    actor
        .id()
        .map_or_else(|| kind.to_owned(), |id| format!("{kind}:{id}"))
}

/// A target as the value of a query parameter.
pub(super) fn target_text(target: EventTarget) -> String {
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
