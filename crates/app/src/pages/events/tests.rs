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
    assert_eq!(target_of(&target_text(prism)), Some(prism));
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
