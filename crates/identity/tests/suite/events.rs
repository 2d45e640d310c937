//! Events: found by the names of their actors, read with names, and exported.

use chrono::{DateTime, Utc};
use futures_util::TryStreamExt as _;
use refract_domain::account::{Email, Role};
use refract_domain::event::{
    Actor, ActorKind, EventAction, EventDetail, EventRequest, EventTarget,
};
use refract_identity::events::{
    ActorError, EventActors, EventFilter, EventRange, ListedEvent, event_stamp,
};
use refract_identity::keys::KeyLimits;
use refract_identity::people::AccountActor;
use refract_lens_rendering::RowFormat;
use refract_test_support::on_both;

use crate::fixture::{Fixture, account};

on_both!(
    actors_are_found_by_what_they_are_called,
    a_key_that_would_end_in_the_past_is_not_made,
    pages_lead_to_their_neighbours,
    an_actor_hands_on_request_and_note,
    an_export_has_all_events_before_it,
);

pub(crate) async fn all(it: &Fixture) -> Vec<ListedEvent> {
    let mut events = it
        .identity
        .events()
        .list(it.account, EventFilter::default());
    let mut all = Vec::new();
    loop {
        let page = events.next_page().await.unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

async fn actors_are_found_by_what_they_are_called(it: Fixture) {
    let operator = AccountActor::operator(it.account);
    let email = Email::parse("ada@example.com").unwrap();
    let mut invited = Vec::new();
    for _ in 0..2 {
        let inviting = it.identity.people().invite(&operator, &email, Role::Editor);
        let person = inviting.await.unwrap().person;
        it.identity
            .people()
            .remove(&operator, person)
            .await
            .unwrap();
        invited.push(person.uuid());
    }
    let mut keys = Vec::new();
    for _ in 0..2 {
        let creating =
            it.identity
                .keys()
                .create(&operator, "laptop".to_owned(), KeyLimits::default());
        keys.push(creating.await.unwrap().0.uuid());
    }
    let actors = |kind, ids: &[uuid::Uuid]| EventActors {
        kind,
        ids: ids.to_vec(),
    };
    let first = keys[0].to_string();
    for (who, expected) in [
        ("operator", actors(ActorKind::Operator, &[])),
        ("node", actors(ActorKind::Node, &[])),
        (" Ada@Example.com ", actors(ActorKind::Person, &invited)),
        ("laptop", actors(ActorKind::Key, &keys)),
        (&first, actors(ActorKind::Key, &keys[..1])),
    ] {
        let found = it.identity.events().find_actors(it.account, who).await;
        assert_eq!(found.unwrap(), expected, "{who}");
    }
    let elsewhere = account(&it.database).await;
    for (account, who) in [
        (it.account, "nobody"),
        (it.account, "eve@example.com"),
        (it.account, "0190b8f2-0000-7000-8000-0000000000aa"),
        (elsewhere, "ada@example.com"),
        (elsewhere, "laptop"),
        (elsewhere, &first),
    ] {
        let refused = it.identity.events().find_actors(account, who).await;
        assert!(matches!(refused, Err(ActorError::Unknown(_))), "{who}");
    }
    let listed = all(&it).await;
    let named = |listed: &ListedEvent| (listed.by.reference.clone(), listed.target.name.clone());
    assert_eq!(
        named(&listed[0]),
        ("operator".to_owned(), "laptop".to_owned())
    );
    assert_eq!(listed[0].target.reference, keys[1].to_string());
    assert_eq!(listed[2].target.reference, "ada@example.com");
}

async fn a_key_that_would_end_in_the_past_is_not_made(it: Fixture) {
    let before = all(&it).await;
    let operator = AccountActor::operator(it.account);
    let end: DateTime<Utc> = "2020-01-01T00:00:00Z".parse().unwrap();
    let limits = KeyLimits {
        expires_at: Some(end),
        ..KeyLimits::default()
    };
    let creating = it
        .identity
        .keys()
        .create(&operator, "late".to_owned(), limits);
    assert_eq!(
        creating.await.err().unwrap().to_string(),
        "the end of a key must be in the future, and 2020-01-01T00:00:00Z is over: name a later one"
    );
    assert_eq!(all(&it).await, before);
}

async fn pages_lead_to_their_neighbours(it: Fixture) {
    for _ in 0..5 {
        let stamp = event_stamp(it.account, Actor::Node, None);
        let event = stamp.event(EventAction::LensSet, EventTarget::Account(it.account));
        it.database.save_event(event).await.unwrap();
    }
    let all = all(&it).await;
    let id = |place: usize| Some(all[place].event.stamp.id);
    let page = async |range| {
        let filter = EventFilter::default();
        let found = it
            .identity
            .events()
            .find(it.account, filter, range, 2)
            .await;
        let found = found.unwrap();
        (found.events, found.newer, found.older)
    };
    let (events, newer, older) = page(EventRange::Newest).await;
    assert_eq!((&events[..], newer, older), (&all[..2], None, id(1)));
    let (events, newer, older) = page(EventRange::OlderThan(id(1).unwrap())).await;
    assert_eq!((&events[..], newer, older), (&all[2..4], id(2), id(3)));
    let (events, newer, older) = page(EventRange::NewerThan(id(4).unwrap())).await;
    assert_eq!((&events[..], newer, older), (&all[2..4], id(2), id(3)));
    let (events, newer, older) = page(EventRange::NewerThan(id(2).unwrap())).await;
    assert_eq!((&events[..], newer, older), (&all[..2], None, id(1)));
}

async fn an_actor_hands_on_request_and_note(it: Fixture) {
    let note = EventDetail::note("asked for by the board").unwrap();
    let actor = AccountActor::operator(it.account)
        .in_request(EventRequest::new(&"req-1"))
        .with_note(note.clone());
    let creating = it
        .identity
        .keys()
        .create(&actor, "noted".to_owned(), KeyLimits::default());
    creating.await.unwrap();
    let listed = all(&it).await;
    let stamp = &listed[0].event.stamp;
    assert_eq!(stamp.note.as_ref(), Some(&note));
    assert_eq!(
        stamp.request.as_ref().map(EventRequest::as_str),
        Some("req-1")
    );
}

async fn an_export_has_all_events_before_it(it: Fixture) {
    for _ in 0..1_100 {
        let stamp = event_stamp(it.account, Actor::Node, None);
        let event = stamp.event(EventAction::LensSet, EventTarget::Account(it.account));
        it.database.save_event(event).await.unwrap();
    }
    let before = all(&it).await;
    let filter = EventFilter::default();
    let operator = AccountActor::operator(it.account);
    let export = it
        .identity
        .events()
        .export(&operator, filter, RowFormat::Csv);
    let chunks: Vec<_> = export.await.unwrap().try_collect().await.unwrap();
    assert!(chunks.len() > 3, "a page at a time");
    let text = String::from_utf8(chunks.concat()).unwrap();
    let lines = text.lines().skip(1);
    let ids: Vec<_> = lines.map(|line| line.split(',').next().unwrap()).collect();
    let expected: Vec<_> = before
        .iter()
        .map(|listed| listed.event.stamp.id.to_string())
        .collect();
    assert_eq!(ids, expected);
    let newest = all(&it).await.swap_remove(0).event;
    let note = newest.stamp.note.map(|note| note.to_string());
    assert_eq!(newest.action, EventAction::EventsExported);
    assert_eq!(note.as_deref(), Some("csv"));
}
