//! The filters of the events, read out of an address.

use refract_domain::event::{Actor, ActorKind, EventAction, EventTarget, TargetKind};
use refract_domain::ids::parse_uuid;
use refract_service::events::{EventActors, EventFilter};

use crate::days::{NO_DAY, beginning, day};
use crate::sent::Query;

/// Where the page is.
pub(super) const ADDRESS: &str = "/events";
/// The names of the filters in an address, which are also the names of the form's inputs.
const NAMES: [&str; 5] = ["by", "action", "target", "from", "to"];

/// What the filters select, with what is wrong with them.
pub(super) struct EventQuery {
    pub(super) filter: EventFilter,
    /// The filters alone, without blank ones and without a page.
    pub(super) query: Query,
    faults: Vec<(&'static str, &'static str)>,
}

impl EventQuery {
    /// Reads the filters.
    pub(super) fn read(query: &Query) -> Self {
        let own = NAMES.iter().fold(Query::default(), |own, name| {
            own.with(name, query.get(name))
        });
        let mut read = Self {
            filter: EventFilter::default(),
            query: own,
            faults: Vec::new(),
        };
        let choose = "is none of the list: choose one";
        let actor = read.one(query, "by", choose, actor);
        read.filter.actors = actor.map(|actor| EventActors {
            kind: actor.kind(),
            ids: actor.id().into_iter().collect(),
        });
        read.filter.action = read.one(query, "action", choose, EventAction::named);
        read.filter.target = read.one(query, "target", choose, target);
        let from = read.one(query, "from", NO_DAY, day);
        let to = read.one(query, "to", NO_DAY, day);
        if from.is_some_and(|from| to.is_some_and(|to| to < from)) {
            read.faults.push(("to", "is before the first day"));
        }
        read.filter.since = from.map(beginning);
        // the last day belongs to the period
        read.filter.until = to.and_then(|to| to.succ_opt()).map(beginning);
        read
    }

    fn one<T>(
        &mut self,
        query: &Query,
        name: &'static str,
        fault: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let found = read(query.get(name)?);
        if found.is_none() {
            self.faults.push((name, fault));
        }
        found
    }

    /// Whether a filter could not be read.
    pub(super) fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// What is wrong with a filter; empty when nothing is.
    pub(super) fn fault(&self, name: &str) -> &str {
        let mut found = self.faults.iter().filter(|(known, _)| *known == name);
        found.next().map_or("", |(_, words)| words)
    }

    /// Whether any filter is set.
    pub(super) fn is_narrowed(&self) -> bool {
        self.filter != EventFilter::default()
    }
}

/// What an address has for an actor.
pub(super) fn actor_text(actor: Actor) -> String {
    let kind = actor.kind().name();
    actor
        .id()
        .map_or_else(|| kind.to_owned(), |id| format!("{kind}:{id}"))
}

/// What an address has for a target.
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
        assert!(!query.has_faults() && query.is_narrowed());
        let actors = query.filter.actors.unwrap();
        assert_eq!(
            (actors.kind, actors.ids),
            (ActorKind::Person, vec![person.0])
        );
        assert_eq!(query.filter.action, Some(EventAction::LensSet));
        let prism = EventTarget::Prism(PrismId(person.0));
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
    fn what_cannot_be_read_is_said_of_its_filter() {
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
            assert!(!read(query).fault(name).is_empty(), "{query}");
        }
    }
}
