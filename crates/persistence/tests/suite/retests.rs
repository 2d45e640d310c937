//! Stored retests: a bounded number under way, one node at a time on each, and new answers that go
//! with their results.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::event::{Event, EventAction, EventTarget};
use refract_domain::ids::{NodeId, PrismId, ResultId, RetestId};
use refract_domain::result::{DrawnTexts, RetestState};
use refract_persistence::{
    CopiedExamples, CreateRetestOutcome, DeletionEvent, JobLease, NewRetest, RetestCounts,
    RetestEnd, RetestRow, RetestUpdate,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, answered, connect, moment, prism};
use crate::uploads::events_of;

on_both!(
    of_twenty_people_one_starts_a_retest_of_a_prism,
    an_account_has_a_bounded_number_under_way,
    of_six_stopped_retests_of_a_prism_one_is_continued,
    new_answers_go_with_their_results,
    a_retest_is_stopped_and_continued_without_its_failures,
    old_retests_are_deleted_with_their_answers,
);

/// How long a lease of these tests lasts.
pub(crate) const TERM: TimeDelta = TimeDelta::seconds(15);
/// Most retests of an account that are under way.
const MOST: i32 = 2;

pub(crate) fn node() -> NodeId {
    NodeId::new(Uuid::now_v7())
}

fn event(it: &Fixture, action: EventAction, at: i64) -> Event {
    let target = EventTarget::Prism(it.prism.id);
    it.stamp(at).event(action, target)
}

fn new_retest(prism: PrismId, results: Vec<ResultId>) -> NewRetest {
    NewRetest {
        id: RetestId::new(Uuid::now_v7()),
        prism,
        version: None,
        model: "m2".to_owned(),
        drawn: DrawnTexts::default(),
        results,
    }
}

async fn create(it: &Fixture, new: NewRetest) -> CreateRetestOutcome {
    let started = event(it, EventAction::RetestStarted, 1);
    let creating = it.database.create_retest(new, MOST, started);
    creating.await.unwrap()
}

/// Saves results.
async fn results(it: &Fixture, number: usize) -> Vec<ResultId> {
    let mut ids = Vec::new();
    for _ in 0..number {
        let new = it.result(answered(), None);
        it.database.save_result(&new).await.unwrap();
        ids.push(new.result.id);
    }
    ids
}

/// A retest of new results, which waits.
pub(crate) async fn waiting(it: &Fixture, number: usize) -> (RetestId, Vec<ResultId>) {
    let results = results(it, number).await;
    let new = new_retest(it.prism.id, results.clone());
    let id = new.id;
    assert_eq!(create(it, new).await, CreateRetestOutcome::Created);
    (id, results)
}

pub(crate) async fn find(it: &Fixture, retest: RetestId) -> RetestRow {
    let found = it.database.find_retest(it.account, retest).await.unwrap();
    found.unwrap()
}

pub(crate) async fn counts(it: &Fixture, retest: RetestId) -> RetestCounts {
    let counting = it.database.count_retest_texts(&[retest]).await;
    counting.unwrap().remove(&retest).unwrap_or_default()
}

pub(crate) async fn take(it: &Fixture, now: DateTime<Utc>) -> Option<JobLease<RetestId>> {
    let taking = it.database.take_retest(node(), &[], now, now + TERM);
    taking.await.unwrap().map(|taken| taken.lease)
}

pub(crate) async fn save(
    it: &Fixture,
    lease: JobLease<RetestId>,
    result: ResultId,
    answer: Result<&str, &str>,
) -> bool {
    let answer = answer.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
    let saving = it.database.save_retest_answer(lease, result, answer);
    saving.await.unwrap()
}

pub(crate) async fn end(
    it: &Fixture,
    lease: JobLease<RetestId>,
    state: Option<RetestState>,
    at: i64,
) -> bool {
    let end = RetestEnd {
        state,
        reason: Some("because".to_owned()),
        flips: Some(3),
    };
    let event = Some(event(it, EventAction::RetestEnded, at));
    let ending = it.database.end_retest_lease(lease, end, moment(at), event);
    ending.await.unwrap()
}

async fn stop(it: &Fixture, retest: RetestId, from: RetestState, at: i64) -> bool {
    let update = RetestUpdate {
        retest,
        from,
        to: RetestState::Stopped,
    };
    let stopped = event(it, EventAction::RetestStopped, at);
    it.database.stop_retest(update, stopped).await.unwrap()
}

async fn go_on(it: &Fixture, retest: RetestId, from: RetestState) -> CreateRetestOutcome {
    let update = RetestUpdate {
        retest,
        from,
        to: RetestState::Waiting,
    };
    let continued = event(it, EventAction::RetestContinued, 9);
    let continuing = it.database.continue_retest(update, MOST, continued);
    continuing.await.unwrap()
}

async fn of_twenty_people_one_starts_a_retest_of_a_prism(it: Fixture) {
    let results = results(&it, 2).await;
    let databases = [it.database.clone(), connect(&it.url).await];
    let people = (0..20).zip(databases.iter().cycle()).map(|(_, database)| {
        let new = new_retest(it.prism.id, results.clone());
        let (started, database) = (event(&it, EventAction::RetestStarted, 1), database.clone());
        tokio::spawn(async move { database.create_retest(new, MOST, started).await.unwrap() })
    });
    let people: Vec<_> = people.collect();
    let mut created = 0;
    for person in people {
        match person.await.unwrap() {
            CreateRetestOutcome::Created => created += 1,
            CreateRetestOutcome::UnderWay(_) | CreateRetestOutcome::Meanwhile => {}
            CreateRetestOutcome::TooMany => panic!("there is room for another prism"),
        }
    }
    assert_eq!(created, 1);
    let listed = it.database.list_retests(it.account, it.prism.id, 9).await;
    let listed = listed.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].state, RetestState::Waiting);
    assert_eq!(counts(&it, listed[0].id).await.texts, 2);
    assert_eq!(events_of(&it, EventAction::RetestStarted).await, 1);
}

async fn an_account_has_a_bounded_number_under_way(it: Fixture) {
    let (first, _) = waiting(&it, 1).await;
    let others = ["Second", "Third"].map(|name| prism(&it.database, it.account, name));
    let [second, third] = others;
    let (second, third) = (second.await, third.await);
    let of = |prism| new_retest(prism, Vec::new());
    assert_eq!(
        create(&it, of(second.id)).await,
        CreateRetestOutcome::Created
    );
    assert_eq!(
        create(&it, of(third.id)).await,
        CreateRetestOutcome::TooMany
    );
    let again = create(&it, of(it.prism.id)).await;
    assert_eq!(again, CreateRetestOutcome::UnderWay(first));
    assert!(stop(&it, first, RetestState::Waiting, 2).await);
    assert_eq!(
        create(&it, of(third.id)).await,
        CreateRetestOutcome::Created
    );
    let continued = go_on(&it, first, RetestState::Stopped).await;
    assert_eq!(continued, CreateRetestOutcome::TooMany);
    let strange = go_on(&it, first, RetestState::Done).await;
    assert_eq!(strange, CreateRetestOutcome::Meanwhile);
    assert_eq!(find(&it, first).await.state, RetestState::Stopped);
}

async fn of_six_stopped_retests_of_a_prism_one_is_continued(it: Fixture) {
    let databases = [it.database.clone(), connect(&it.url).await];
    let mut people = Vec::new();
    for database in databases.iter().cycle().take(6) {
        let (retest, _) = waiting(&it, 1).await;
        assert!(stop(&it, retest, RetestState::Waiting, 2).await);
        let update = RetestUpdate {
            retest,
            from: RetestState::Stopped,
            to: RetestState::Waiting,
        };
        let continued = event(&it, EventAction::RetestContinued, 9);
        people.push((database.clone(), update, continued));
    }
    let people = people.into_iter().map(|(database, update, continued)| {
        let continuing = async move { database.continue_retest(update, MOST, continued).await };
        tokio::spawn(continuing)
    });
    let people: Vec<_> = people.collect();
    let mut outcomes = Vec::new();
    for person in people {
        outcomes.push(person.await.unwrap().unwrap());
    }
    let is_continued = |it: &&CreateRetestOutcome| **it == CreateRetestOutcome::Created;
    assert_eq!(
        outcomes.iter().filter(is_continued).count(),
        1,
        "{outcomes:?}"
    );
    let is_refused = |it: &CreateRetestOutcome| *it == CreateRetestOutcome::TooMany;
    assert!(!outcomes.iter().any(is_refused), "{outcomes:?}");
    assert_eq!(events_of(&it, EventAction::RetestContinued).await, 1);
}

async fn new_answers_go_with_their_results(it: Fixture) {
    let gone = results(&it, 1).await;
    let (retest, results) = waiting(&it, 2).await;
    let lease = take(&it, moment(2)).await.unwrap();
    assert!(save(&it, lease, results[0], Ok("{}")).await);
    let ids = [results.clone(), gone.clone()].concat();
    let deleting =
        it.database
            .delete_results(ids, CopiedExamples::Deleted, DeletionEvent::Elsewhere);
    assert_eq!(deleting.await.unwrap().results, 3);
    assert_eq!(counts(&it, retest).await, RetestCounts::default());
    assert!(!save(&it, lease, results[1], Ok("{}")).await);
    assert!(end(&it, lease, Some(RetestState::Done), 3).await);
    // results that were deleted while they were drawn are left out
    let new = new_retest(it.prism.id, gone);
    let id = new.id;
    assert_eq!(create(&it, new).await, CreateRetestOutcome::Created);
    assert_eq!(counts(&it, id).await.texts, 0);
}

async fn a_retest_is_stopped_and_continued_without_its_failures(it: Fixture) {
    let (retest, results) = waiting(&it, 2).await;
    let lease = take(&it, moment(2)).await.unwrap();
    assert!(save(&it, lease, results[0], Ok("{}")).await);
    assert!(save(&it, lease, results[1], Err("away")).await);
    assert!(!stop(&it, retest, RetestState::Waiting, 3).await);
    assert!(stop(&it, retest, RetestState::Asking, 3).await);
    let renewing = it.database.renew_retest_lease(lease, moment(4)).await;
    assert_eq!(renewing.unwrap(), Some(RetestState::Stopped));
    assert!(end(&it, lease, Some(RetestState::Done), 5).await);
    let found = find(&it, retest).await;
    assert_eq!((found.state, found.flips), (RetestState::Stopped, Some(3)));
    assert_eq!(found.ended_at, Some(moment(3)), "a person ended it");
    assert_eq!(take(&it, moment(6)).await, None);
    let continued = go_on(&it, retest, RetestState::Stopped).await;
    assert_eq!(continued, CreateRetestOutcome::Created);
    let found = find(&it, retest).await;
    assert_eq!((found.state, found.ended_at), (RetestState::Waiting, None));
    let counted = RetestCounts {
        texts: 2,
        answered: 1,
        failed: 0,
    };
    assert_eq!(counts(&it, retest).await, counted);
    assert_eq!(take(&it, moment(10)).await.unwrap().fence, 2);
    let again = go_on(&it, retest, RetestState::Asking).await;
    assert_eq!(again, CreateRetestOutcome::UnderWay(retest));
    for action in [EventAction::RetestStopped, EventAction::RetestContinued] {
        assert_eq!(events_of(&it, action).await, 1);
    }
    assert_eq!(events_of(&it, EventAction::RetestEnded).await, 0);
}

async fn old_retests_are_deleted_with_their_answers(it: Fixture) {
    let (old, results) = waiting(&it, 600).await;
    let lease = take(&it, moment(2)).await.unwrap();
    assert!(save(&it, lease, results[0], Ok("{}")).await);
    assert!(end(&it, lease, Some(RetestState::Done), 3).await);
    let (newer, _) = waiting(&it, 1).await;
    assert!(stop(&it, newer, RetestState::Waiting, 9).await);
    let (under_way, _) = waiting(&it, 1).await;
    let delete = async |before| {
        let deleting = it.database.delete_old_retests(moment(before), 9);
        deleting.await.unwrap()
    };
    assert_eq!(delete(3).await, 0);
    assert_eq!(delete(9).await, 1);
    assert_eq!(
        it.database.find_retest(it.account, old).await.unwrap(),
        None
    );
    assert_eq!(counts(&it, old).await, RetestCounts::default());
    assert!(it.read(results[0]).await.is_some(), "results stay");
    assert_eq!(delete(90_000).await, 1);
    let left = it.database.list_retests(it.account, it.prism.id, 9).await;
    let left: Vec<_> = left.unwrap().iter().map(|retest| retest.id).collect();
    assert_eq!(left, [under_way]);
}
