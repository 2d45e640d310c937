//! Events of sign-in: of wrong tries, and of sessions that were ended.

use refract_domain::account::{Role, TokenHash};
use refract_domain::event::{Actor, Event, EventAction, EventStamp, EventTarget};
use refract_domain::ids::PersonId;
use refract_persistence::{EndedSessions, NewSession, SignInCounter, SignInTry, WrongTry};
use refract_test_support::on_both;

use crate::events::events;
use crate::fixture::{Fixture, moment};
use crate::joined_people::{alive, browser, joined, new_session, password_of, signed_in};
use crate::sign_in_tries::{attempt, network, window};

on_both!(
    of_wrong_tries_at_once_each_has_an_event_and_one_reaches_the_number,
    wrong_tries_elsewhere_and_before_do_not_reach_the_number,
    a_wrong_try_for_nobody_has_no_event,
    sessions_that_are_ended_together_have_one_event_with_their_number,
);

const ADA: &str = "ada@example.com";
const GRACE: &str = "grace@example.com";

async fn save(it: &Fixture, new: &SignInTry) {
    let saving = it
        .database
        .save_sign_in_try(new.clone(), window(-100, 100, 100));
    saving.await.unwrap();
}

/// Saves that a try was wrong, where three wrong tries block the next ones.
async fn refuse(it: &Fixture, tried: SignInTry, person: Option<PersonId>) {
    let wrong = WrongTry {
        refused_at: tried.tried_at,
        tried,
        window: window(0, 100, 100),
        stopping: 3,
    };
    let stamp = EventStamp {
        actor: Actor::Node,
        ..it.stamp(5)
    };
    let refusing = it
        .database
        .refuse_sign_in_try(wrong, person.map(|person| (person, stamp)));
    refusing.await.unwrap();
}

/// The events of refused tries for a person, newest first.
async fn refused(it: &Fixture, person: PersonId) -> Vec<Event> {
    let mut refused = events(it).await;
    refused.retain(|event| event.action == EventAction::SignInRefused);
    let target = EventTarget::Person(person);
    assert!(refused.iter().all(|event| event.target == target));
    refused
}

fn notes(events: &[Event]) -> Vec<String> {
    let notes = events.iter().filter_map(|event| event.stamp.note.as_ref());
    notes.map(ToString::to_string).collect()
}

const STOPPED: &str = "3 wrong tries, the next ones are stopped for a while";

async fn of_wrong_tries_at_once_each_has_an_event_and_one_reaches_the_number(it: Fixture) {
    let ada = joined(&it, ADA, Role::Owner, 1).await;
    let tries: Vec<_> = (1..4).map(|at| attempt(ADA, network("a"), at)).collect();
    for new in &tries {
        save(&it, new).await;
    }
    assert_eq!(refused(&it, ada).await, [], "nobody knows yet");
    let refusing = tries.into_iter().map(|tried| refuse(&it, tried, Some(ada)));
    futures_util::future::join_all(refusing).await;
    let refused = refused(&it, ada).await;
    assert_eq!(refused.len(), 4);
    assert_eq!(notes(&refused), [STOPPED]);
    // any of them may be the third
    let stopping = refused.iter().find(|event| event.stamp.note.is_some());
    let stopping = stopping.unwrap().stamp.id;
    let mut before = refused.iter().map(|event| event.stamp.further().id);
    assert!(before.any(|id| id == stopping), "just after its try");
    assert!(refused.iter().all(|event| event.stamp.actor == Actor::Node));
}

async fn wrong_tries_elsewhere_and_before_do_not_reach_the_number(it: Fixture) {
    let ada = joined(&it, ADA, Role::Owner, 1).await;
    let known = SignInCounter::Browser(browser(1));
    for new in [
        attempt(ADA, network("a"), -1),
        attempt(ADA, network("a"), 1),
        attempt(ADA, network("b"), 1),
        attempt(ADA, known.clone(), 1),
        attempt(ADA, known.clone(), 2),
    ] {
        save(&it, &new).await;
        refuse(&it, new, Some(ada)).await;
    }
    let of_grace = attempt(GRACE, network("a"), 1);
    save(&it, &of_grace).await;
    refuse(&it, of_grace, None).await;
    // one that is not decided yet, and one whose password was right
    save(&it, &attempt(ADA, network("a"), 2)).await;
    let right = attempt(ADA, network("a"), 2);
    save(&it, &right).await;
    let second = attempt(ADA, network("a"), 2);
    save(&it, &second).await;
    refuse(&it, second, Some(ada)).await;
    it.database.delete_sign_in_try(right.id).await.unwrap();
    assert_eq!(notes(&refused(&it, ada).await), [""; 0]);
    for (counter, expected) in [(network("a"), 1), (known, 2)] {
        let third = attempt(ADA, counter, 3);
        save(&it, &third).await;
        refuse(&it, third, Some(ada)).await;
        assert_eq!(notes(&refused(&it, ada).await), vec![STOPPED; expected]);
    }
    assert_eq!(refused(&it, ada).await.len(), 10);
}

async fn a_wrong_try_for_nobody_has_no_event(it: Fixture) {
    joined(&it, ADA, Role::Owner, 1).await;
    let grace = joined(&it, GRACE, Role::Editor, 2).await;
    let nobodys = attempt("nobody@example.com", network("a"), 1);
    save(&it, &nobodys).await;
    refuse(&it, nobodys, None).await;
    assert_eq!(refused(&it, grace).await, []);
    let of_grace = attempt(GRACE, network("a"), 1);
    save(&it, &of_grace).await;
    let removing = it.database.remove_person(grace, it.stamp(2));
    removing.await.unwrap();
    refuse(&it, of_grace, Some(grace)).await;
    assert_eq!(refused(&it, grace).await, [], "she was removed meanwhile");
}

async fn sessions_that_are_ended_together_have_one_event_with_their_number(it: Fixture) {
    let ada = joined(&it, ADA, Role::Owner, 1).await;
    joined(&it, GRACE, Role::Editor, 2).await;
    for byte in 3..6 {
        let checked = password_of(&it, ADA).await.unwrap();
        let session = NewSession {
            now: moment(i64::from(byte) * 10),
            ..new_session(byte)
        };
        let beginning = it.database.begin_session(checked, session, it.stamp(1));
        assert!(beginning.await.unwrap());
    }
    let hash = |byte| TokenHash::new([byte; 32]);
    let end = async |ended| {
        // session 1 has expired
        let (database, alive) = (&it.database, alive(20, 20));
        let ending = database.end_own_sessions(ada, ended, alive, it.stamp(60));
        ending.await.unwrap();
        let mut all = events(&it).await;
        all.retain(|event| event.action == EventAction::SessionEnded);
        assert!(all.iter().all(|it| it.target == EventTarget::Person(ada)));
        (all.len(), notes(&all))
    };
    for not_hers in [hash(1), hash(2), hash(9)] {
        assert_eq!(end(EndedSessions::One(not_hers)).await, (0, vec![]));
    }
    let counted = vec!["2 sessions".to_owned()];
    let others = EndedSessions::AllBut(hash(4));
    for _ in 0..2 {
        assert_eq!(end(others).await, (1, counted.clone()));
    }
    assert_eq!(end(EndedSessions::One(hash(4))).await, (2, counted.clone()));
    assert_eq!(end(others).await, (2, counted), "none are left");
    assert!(signed_in(&it, 2).await.is_some(), "Grace's goes on");
}
