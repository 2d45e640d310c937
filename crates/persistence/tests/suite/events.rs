//! Events: kept as they were saved, listed newest first, and never changed or deleted.

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use refract_domain::account::Role;
use refract_domain::event::{
    Actor, ActorKind, Event, EventAction, EventDetail, EventRequest, EventStamp, EventTarget,
};
use refract_domain::ids::{ApiKeyId, EventId, FileRunId, PersonId, PrismId};
use refract_persistence::{EventActors, EventFilter, EventRange};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, account, moment, new_stamp, prism};
use crate::joined_people::joined;
use crate::schemas::postgres_client;

on_both!(
    an_event_reads_as_it_was_saved,
    what_only_a_newer_version_knows_is_read_as_unknown,
    events_are_paged_from_both_ends,
    filters_keep_the_events_that_they_name,
    a_period_is_that_of_the_saved_moment,
    events_about_a_file_run_begin_with_it,
    an_account_sees_its_own_events_alone,
    changes_of_a_prism_and_what_people_did_last_are_reported,
    the_database_refuses_to_change_or_delete_an_event,
    an_operator_may_delete_events_as_the_manual_describes,
);

pub(crate) async fn events(it: &Fixture) -> Vec<Event> {
    list(it, EventFilter::default()).await
}

async fn list(it: &Fixture, filter: EventFilter) -> Vec<Event> {
    let listing = it
        .database
        .list_events(it.account, filter, EventRange::Newest, 1_000);
    listing.await.unwrap()
}

/// Saves an event of an actor, and returns it.
async fn save(it: &Fixture, actor: Actor, action: EventAction, target: EventTarget) -> Event {
    let stamp = EventStamp {
        actor,
        ..it.stamp(1)
    };
    let event = stamp.event(action, target);
    it.database.save_event(event.clone()).await.unwrap();
    event
}

async fn an_event_reads_as_it_was_saved(it: Fixture) {
    let before = events(&it).await.len();
    let person = PersonId::new(Uuid::now_v7());
    let actors = [
        Actor::Person(person),
        Actor::Key(it.key.id),
        Actor::Operator,
        Actor::Node,
    ];
    let targets = [
        EventTarget::Account(it.account),
        EventTarget::Prism(it.prism.id),
        EventTarget::Key(it.key.id),
        EventTarget::Person(person),
    ];
    let mut saved = Vec::new();
    for (number, action) in EventAction::ALL.iter().enumerate() {
        let stamp = EventStamp {
            actor: actors[number % 4],
            request: (number % 2 == 0).then(|| EventRequest::new(&"req-1")),
            note: (number % 3 == 0).then(|| EventDetail::note("why – 'not'").unwrap()),
            ..it.stamp(7)
        };
        let event = Event {
            from: (number % 2 == 1).then(|| Role::Owner.into()),
            to: (number % 5 == 1).then(|| Role::Editor.into()),
            ..stamp.event(*action, targets[number / 4 % 4])
        };
        it.database.save_event(event.clone()).await.unwrap();
        saved.push(event);
    }
    saved.reverse();
    let listed = events(&it).await;
    assert_eq!(listed.len(), before + saved.len());
    assert_eq!(listed[..saved.len()], saved);
}

async fn what_only_a_newer_version_knows_is_read_as_unknown(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Owner, 1).await;
    let target = EventTarget::Prism(it.prism.id);
    let known = save(&it, Actor::Person(ada), EventAction::LensSet, target).await;
    let newer = save(&it, Actor::Person(ada), EventAction::LensSet, target).await;
    // as a later version saves it, which may add names without a migration
    let before = events(&it).await.len();
    let id = if it.url.starts_with("sqlite") {
        "x'01010101010101010101010101010101'"
    } else {
        "'01010101-0101-0101-0101-010101010101'"
    };
    let newest = "FROM events ORDER BY id DESC LIMIT 1";
    let copied = format!(
        "INSERT INTO events (id, account_id, at, actor_kind, actor_id, action, target_kind, target_id) \
         SELECT {id}, account_id, at, actor_kind, actor_id, 'thing_made', 'thing', {id} {newest}"
    );
    run(&it, &copied).await.unwrap();
    let listed = events(&it).await;
    assert_eq!(listed.len(), before + 1);
    assert_eq!(listed[..2], [newer, known]);
    let unknown = listed.last().unwrap();
    assert_eq!(unknown.action, EventAction::Unknown);
    let id = Uuid::from_bytes([1; 16]);
    assert_eq!(unknown.target, EventTarget::Unknown(id));
    assert_eq!(unknown.stamp.actor, Actor::Person(ada));
}

async fn events_are_paged_from_both_ends(it: Fixture) {
    for _ in 0..25 {
        let target = EventTarget::Prism(it.prism.id);
        save(&it, Actor::Operator, EventAction::ResultsExported, target).await;
    }
    let all = events(&it).await;
    let page = async |range| {
        let listing = it
            .database
            .list_events(it.account, EventFilter::default(), range, 10);
        listing.await.unwrap()
    };
    let newest = page(EventRange::Newest).await;
    assert_eq!(newest, all[..10]);
    let second = page(EventRange::OlderThan(newest[9].stamp.id)).await;
    assert_eq!(second, all[10..20]);
    let back = page(EventRange::NewerThan(second[0].stamp.id)).await;
    assert_eq!(back, newest);
    let nothing = page(EventRange::NewerThan(all[0].stamp.id)).await;
    assert_eq!(nothing, []);
}

async fn filters_keep_the_events_that_they_name(it: Fixture) {
    let [ada, grace] = [1, 2].map(|_| PersonId::new(Uuid::now_v7()));
    let key = ApiKeyId::new(Uuid::now_v7());
    let prism = EventTarget::Prism(it.prism.id);
    let other = EventTarget::Person(ada);
    let of_ada = save(&it, Actor::Person(ada), EventAction::LensSet, prism).await;
    let of_grace = save(&it, Actor::Person(grace), EventAction::RoleSet, other).await;
    let of_key = save(&it, Actor::Key(key), EventAction::LensSet, prism).await;
    let of_node = save(&it, Actor::Node, EventAction::ResultsPurged, prism).await;
    let by = |kind, ids: &[Uuid]| EventFilter {
        actors: Some(EventActors {
            kind,
            ids: ids.to_vec(),
        }),
        ..EventFilter::default()
    };
    let person = ActorKind::Person;
    for (filter, expected) in [
        (by(person, &[ada.uuid()]), vec![&of_ada]),
        (
            by(person, &[grace.uuid(), ada.uuid()]),
            vec![&of_grace, &of_ada],
        ),
        (by(person, &[key.uuid()]), vec![]),
        (by(person, &[]), vec![]),
        (by(ActorKind::Key, &[key.uuid()]), vec![&of_key]),
        (by(ActorKind::Node, &[]), vec![&of_node]),
        (
            EventFilter {
                action: Some(EventAction::LensSet),
                ..EventFilter::default()
            },
            vec![&of_key, &of_ada],
        ),
        (
            EventFilter {
                target: Some(other),
                ..EventFilter::default()
            },
            vec![&of_grace],
        ),
        (
            EventFilter {
                target: Some(prism),
                action: Some(EventAction::LensSet),
                ..by(person, &[ada.uuid()])
            },
            vec![&of_ada],
        ),
    ] {
        let listed = list(&it, filter.clone()).await;
        let listed: Vec<_> = listed.iter().collect();
        assert_eq!(listed, expected, "{filter:?}");
    }
    let by_operators = list(&it, by(ActorKind::Operator, &[])).await;
    let actions: Vec<_> = by_operators.iter().map(|event| event.action).collect();
    let expected = [
        EventAction::PrismCreated,
        EventAction::KeyCreated,
        EventAction::AccountCreated,
    ];
    assert_eq!(actions, expected);
}

async fn a_period_is_that_of_the_saved_moment(it: Fixture) {
    let event = |milliseconds: i64| {
        // an id of a clock that was four minutes ahead
        let ahead = moment(milliseconds) + chrono::TimeDelta::minutes(4);
        let stamp = EventStamp {
            id: EventId::new(EventId::first_of(ahead).uuid()),
            ..it.stamp(milliseconds)
        };
        stamp.event(EventAction::LensSet, EventTarget::Prism(it.prism.id))
    };
    for milliseconds in [-1, 0, 1, 2] {
        let saving = it.database.save_event(event(milliseconds));
        saving.await.unwrap();
    }
    let between = async |since: Option<i64>, until: Option<i64>| {
        let filter = EventFilter {
            action: Some(EventAction::LensSet),
            since: since.map(moment),
            until: until.map(moment),
            ..EventFilter::default()
        };
        let listed = list(&it, filter).await.into_iter();
        let milliseconds = listed.map(|event| (event.stamp.at - moment(0)).num_milliseconds());
        milliseconds.collect::<Vec<_>>()
    };
    assert_eq!(between(None, None).await, [2, 1, 0, -1]);
    assert_eq!(between(Some(0), None).await, [2, 1, 0]);
    assert_eq!(between(None, Some(1)).await, [0, -1]);
    assert_eq!(between(Some(1), Some(2)).await, [1]);
}

async fn events_about_a_file_run_begin_with_it(it: Fixture) {
    let [run, other] = [1, 2].map(|_| FileRunId::new(Uuid::now_v7()));
    let save = async |run: FileRunId, about: EventDetail| {
        let stamp = it.stamp(1).noted(EventDetail::file_run(run).and(&about));
        let event = stamp.event(EventAction::FileRunMade, EventTarget::Prism(it.prism.id));
        it.database.save_event(event.clone()).await.unwrap();
        event
    };
    let mine = save(run, EventDetail::counted(1, "row")).await;
    save(other, EventDetail::file_run(run)).await;
    let about = EventFilter {
        about: Some(EventDetail::file_run(run)),
        ..EventFilter::default()
    };
    assert_eq!(list(&it, about).await, [mine]);
}

async fn an_account_sees_its_own_events_alone(it: Fixture) {
    let before = events(&it).await;
    let elsewhere = account(&it.database, "elsewhere").await;
    let stamp = new_stamp(elsewhere, 1);
    let event = stamp.event(EventAction::EventsExported, EventTarget::Account(elsewhere));
    it.database.save_event(event).await.unwrap();
    assert_eq!(events(&it).await, before);
}

async fn changes_of_a_prism_and_what_people_did_last_are_reported(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Owner, 1).await;
    let grace = joined(&it, "grace@example.com", Role::Editor, 2).await;
    let prism = EventTarget::Prism(it.prism.id);
    let by = Actor::Person(ada);
    let set = save(&it, by, EventAction::LensSet, prism).await;
    save(&it, by, EventAction::ResultsExported, prism).await;
    let other = EventTarget::Prism(prism_elsewhere(&it).await);
    save(&it, by, EventAction::LensSet, other).await;
    let reset = save(&it, by, EventAction::LensReset, prism).await;
    save(&it, by, EventAction::SignedIn, EventTarget::Person(ada)).await;
    let listed = async |limit| {
        let listing = it
            .database
            .list_prism_events(it.account, it.prism.id, limit);
        listing.await.unwrap()
    };
    let all = listed(10).await;
    assert_eq!(all.len(), 3);
    assert_eq!(all[..2], [reset.clone(), set]);
    assert_eq!(all[2].action, EventAction::PrismCreated);
    assert_eq!(listed(1).await, std::slice::from_ref(&reset));

    let last = async || {
        let mut last = it.database.list_last_events(it.account).await.unwrap();
        last.sort_by_key(|event| event.stamp.id);
        last
    };
    let found = last().await;
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].action, EventAction::PersonJoined);
    assert_eq!(found[0].target, EventTarget::Person(grace));
    assert_eq!(found[1], reset, "besides signing in");
    let removing = it.database.remove_person(grace, it.stamp_of(ada, 20));
    removing.await.unwrap();
    let found = last().await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].action, EventAction::PersonRemoved);
}

async fn prism_elsewhere(it: &Fixture) -> PrismId {
    prism(&it.database, it.account, "Other").await.id
}

/// Runs SQL as an operator does; returns whether the database accepted it.
async fn run(it: &Fixture, sql: &str) -> Result<(), String> {
    if let Some(path) = it.url.strip_prefix("sqlite://") {
        let mut connection = SqliteConnection::establish(path).unwrap();
        let ran = connection.batch_execute(sql);
        return ran.map_err(|error| error.to_string());
    }
    let ran = postgres_client(&it.url).await.batch_execute(sql).await;
    ran.map_err(|error| error.as_db_error().unwrap().message().to_owned())
}

async fn the_database_refuses_to_change_or_delete_an_event(it: Fixture) {
    let before = events(&it).await;
    assert_eq!(before.len(), 3);
    let (copied, only_there) = if it.url.starts_with("sqlite") {
        ("INSERT OR REPLACE INTO events SELECT * FROM events", None)
    } else {
        let upsert = "INSERT INTO events SELECT * FROM events \
             ON CONFLICT (id) DO UPDATE SET note = 'changed'";
        (upsert, Some("TRUNCATE events"))
    };
    let statements = [
        "UPDATE events SET note = 'changed'",
        "DELETE FROM events",
        "DELETE FROM events WHERE action = 'key_created'",
        copied,
    ];
    for sql in statements.into_iter().chain(only_there) {
        let refused = run(&it, sql).await.unwrap_err();
        assert!(
            refused.contains("events are append-only"),
            "{sql}: {refused}"
        );
    }
    assert_eq!(events(&it).await, before);
}

/// The statements of the manual, with deleting ones in place of its dots.
fn of_manual(it: &Fixture, delete: &str) -> String {
    let manual = include_str!("../../../../docs/RETENTION.md");
    let heading = if it.url.starts_with("sqlite") {
        "-- SQLite: delete events"
    } else {
        "-- PostgreSQL: delete events"
    };
    let (_, rest) = manual.split_once(heading).unwrap();
    let (statements, _) = rest.split_once("COMMIT;").unwrap();
    let statements = format!("{statements}COMMIT;");
    assert!(statements.contains("DELETE FROM events WHERE …;"));
    statements.replace("DELETE FROM events WHERE …;", delete)
}

async fn an_operator_may_delete_events_as_the_manual_describes(it: Fixture) {
    let delete = "DELETE FROM events WHERE action = 'key_created';";
    run(&it, &of_manual(&it, delete)).await.unwrap();
    let left = events(&it).await;
    let actions: Vec<_> = left.iter().map(|event| event.action).collect();
    assert_eq!(
        actions,
        [EventAction::PrismCreated, EventAction::AccountCreated]
    );
    let refused = run(&it, "DELETE FROM events").await.unwrap_err();
    assert!(refused.contains("events are append-only"), "{refused}");
}
