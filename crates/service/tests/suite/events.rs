//! Events: found by the names of their actors, read with names, exported, and one for each deletion
//! however many transactions it takes.

use std::num::NonZeroU32;

use chrono::{DateTime, Utc};
use futures_util::TryStreamExt as _;
use refract_domain::account::person::Email;
use refract_domain::account::role::Role;
use refract_domain::event::{
    Actor, ActorKind, EventAction, EventDetail, EventRequest, EventTarget,
};
use refract_domain::ids::ResultId;
use refract_domain::submission::reference::Ref;
use refract_lens_rendering::RowFormat;
use refract_service::events::{
    ActorError, EventActors, EventFilter, EventRange, ListedEvent, event_stamp,
};
use refract_service::keys::KeyLimits;
use refract_service::people::{AccountActor, ResultActor};
use refract_service::retention::{PurgeRange, RetentionOutcome};
use refract_test_support::on_both;

use crate::fixture::{Described, Fixture, Saved, account, key, moment, save_all};

on_both!(
    actors_are_found_by_what_they_are_called,
    a_key_that_would_end_in_the_past_is_not_made,
    pages_lead_to_their_neighbours,
    an_actor_hands_on_request_and_note,
    an_export_has_all_events_before_it,
    a_purge_of_many_results_has_two_events_and_one_of_few_has_one,
    a_purge_that_stops_records_what_it_deleted,
    an_erasure_has_its_events,
    retention_is_the_nodes,
);

pub(crate) async fn all(it: &Fixture) -> Vec<ListedEvent> {
    let mut events = it.refract.events().list(it.account, EventFilter::default());
    let mut all = Vec::new();
    loop {
        let page = events.next_page().await.unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

/// The newest events as action and note, newest first.
async fn newest(it: &Fixture, number: usize) -> Vec<(EventAction, String)> {
    let all = all(it).await;
    let newest = all[..number].iter().map(|listed| {
        let note = listed.event.stamp.note.as_ref();
        let note = note.map(ToString::to_string);
        (listed.event.action, note.unwrap_or_default())
    });
    newest.collect()
}

async fn actors_are_found_by_what_they_are_called(it: Fixture) {
    let operator = AccountActor::operator(it.account);
    let email = Email::parse("ada@example.com").unwrap();
    let mut invited = Vec::new();
    for _ in 0..2 {
        let inviting = it.refract.people().invite(&operator, &email, Role::Editor);
        let person = inviting.await.unwrap().person;
        it.refract.people().remove(&operator, person).await.unwrap();
        invited.push(person.uuid());
    }
    let mut keys = Vec::new();
    for _ in 0..2 {
        let creating =
            it.refract
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
        let found = it.refract.events().find_actors(it.account, who).await;
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
        let refused = it.refract.events().find_actors(account, who).await;
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
        .refract
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
        let found = it.refract.events().find(it.account, filter, range, 2).await;
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
        .refract
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
        .refract
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
    let newest = newest(&it, 1).await;
    assert_eq!(newest, [(EventAction::EventsExported, "csv".to_owned())]);
}

fn results(number: usize, reference: Option<&'static str>) -> Vec<Described> {
    let result = Described {
        at: 0,
        version: 1,
        answers: Some(("billing", 10)),
        reference,
        actor: key(1),
        is_retried: false,
    };
    vec![result; number]
}

fn range(saved: &Saved) -> PurgeRange {
    PurgeRange {
        prism: saved.prism(),
        before: moment(1),
        is_ok: None,
    }
}

async fn a_purge_of_many_results_has_two_events_and_one_of_few_has_one(it: Fixture) {
    let before = "saved before 2026-03-04T12:00:00.001Z";
    for number in [1, 99, 100, 101, 250] {
        let saved = save_all(&it, it.account, &results(number, None)).await;
        let known = all(&it).await.len();
        let actor = AccountActor::operator(it.account);
        let mut purge = it.refract.retention().purge(actor, range(&saved));
        while purge.next_batch().await.unwrap().is_some() {}
        purge.end().await.unwrap();
        let noun = if number == 1 { "result" } else { "results" };
        let purged = (
            EventAction::ResultsPurged,
            format!("{before}; {number} {noun}"),
        );
        let mut expected = vec![purged];
        if number > 100 {
            expected.push((EventAction::PurgeStarted, before.to_owned()));
        }
        let added = all(&it).await.len() - known;
        assert_eq!(newest(&it, added).await, expected, "{number}");
    }
}

async fn a_purge_that_stops_records_what_it_deleted(it: Fixture) {
    let saved = save_all(&it, it.account, &results(250, None)).await;
    let known = all(&it).await.len();
    let failed_only = PurgeRange {
        is_ok: Some(true),
        ..range(&saved)
    };
    let mut purge = it
        .refract
        .retention()
        .purge(AccountActor::operator(it.account), failed_only);
    purge.next_batch().await.unwrap();
    purge.end().await.unwrap();
    purge.end().await.unwrap();
    assert_eq!(all(&it).await.len() - known, 2);
    let note = "saved before 2026-03-04T12:00:00.001Z; ok".to_owned();
    let expected = [
        (EventAction::ResultsPurged, format!("{note}; 100 results")),
        (EventAction::PurgeStarted, note),
    ];
    assert_eq!(newest(&it, 2).await, expected);
    // nothing is left from before that moment
    let nothing = PurgeRange {
        before: moment(-1),
        ..failed_only
    };
    let mut purge = it
        .refract
        .retention()
        .purge(AccountActor::operator(it.account), nothing);
    assert!(purge.next_batch().await.unwrap().is_none());
    assert_eq!(all(&it).await.len() - known, 2);
}

async fn an_erasure_has_its_events(it: Fixture) {
    let operator = AccountActor::operator(it.account);
    let few = save_all(&it, it.account, &results(3, None)).await;
    let ids: Vec<ResultId> = few.results.iter().map(|(id, _)| *id).collect();
    let known = all(&it).await.len();
    it.refract.retention().erase(&operator, &ids).await.unwrap();
    it.refract.retention().erase(&operator, &ids).await.unwrap();
    assert_eq!(all(&it).await.len() - known, 1, "the second found nothing");
    let erased = |number: u64| (EventAction::ResultsErased, format!("{number} results"));
    let started = (EventAction::ErasureStarted, String::new());
    assert_eq!(newest(&it, 1).await, [erased(3)]);
    for number in [100, 130, 200, 201] {
        save_all(&it, it.account, &results(number, Some("ada"))).await;
        let known = all(&it).await.len();
        let ada = Ref::saved("ada".to_owned());
        let erasing = it
            .refract
            .retention()
            .erase_reference(&operator, &ada)
            .await;
        let number = u64::try_from(number).unwrap();
        assert_eq!(erasing.unwrap().results, number);
        let expected = [erased(number), started.clone()];
        assert_eq!(all(&it).await.len() - known, 2, "{number}");
        assert_eq!(newest(&it, 2).await, expected, "{number}");
    }
    let many = save_all(&it, it.account, &results(230, None)).await;
    let ids: Vec<ResultId> = many.results.iter().map(|(id, _)| *id).collect();
    it.refract.retention().erase(&operator, &ids).await.unwrap();
    assert_eq!(newest(&it, 2).await, [erased(230), started]);
}

async fn retention_is_the_nodes(it: Fixture) {
    let mut old = results(2, None);
    for result in &mut old {
        result.actor = ResultActor::Operator;
    }
    let saved = save_all(&it, it.account, &old).await;
    let days = NonZeroU32::new(30).unwrap();
    let node = it.refract.retention().rounds(days);
    // all of the prism's results are too old
    let mut node = node.with_unchecked_first_round();
    let later = moment(0) + chrono::TimeDelta::days(31);
    let round = node.round(later).await;
    assert_eq!(round.unwrap(), RetentionOutcome::Purged(2));
    let listed = all(&it).await;
    let event = &listed[0].event;
    assert_eq!(event.stamp.actor, Actor::Node);
    assert_eq!(event.target, EventTarget::Prism(saved.prism()));
    assert_eq!(listed[0].by.reference, "node");
    let known = listed.len();
    let round = node.round(later + chrono::TimeDelta::minutes(1)).await;
    assert_eq!(round.unwrap(), RetentionOutcome::Purged(0));
    assert_eq!(all(&it).await.len(), known);
}
