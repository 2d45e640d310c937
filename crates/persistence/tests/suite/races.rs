//! Races of fifty saves: the constraints choose one result, and all callers get it.

use std::collections::BTreeSet;
use std::sync::Arc;

use refract_domain::ids::ResultId;
use refract_persistence::{NewResult, SaveOutcome};
use refract_test_support::on_both;
use tokio::sync::Barrier;

use crate::fixture::{Fixture, answered, connect, failed, idempotency_key};

const CALLS: usize = 50;

on_both!(
    of_first_calls_with_one_key_one_is_saved,
    of_retries_of_one_result_with_a_key_one_is_saved,
    of_retries_of_one_result_without_a_key_one_is_saved,
    a_first_call_and_retries_with_one_key_leave_one_holder,
);

/// Saves all results at the same moment, over two `Database` values as two processes would. Returns
/// the ids that were saved, and the ids that the others lost to.
async fn save_at_once(
    it: &Fixture,
    new: Vec<NewResult>,
) -> (BTreeSet<ResultId>, BTreeSet<ResultId>) {
    let start = Arc::new(Barrier::new(new.len()));
    let databases = [it.database.clone(), connect(&it.url).await];
    let calls: Vec<_> = new
        .into_iter()
        .zip(databases.iter().cycle().cloned())
        .map(|(new, database)| {
            let start = Arc::clone(&start);
            tokio::spawn(async move {
                start.wait().await;
                (new.result.id, database.save_result(&new).await.unwrap())
            })
        })
        .collect();
    let (mut saved, mut lost_to) = (BTreeSet::new(), BTreeSet::new());
    for call in calls {
        match call.await.unwrap() {
            (id, SaveOutcome::Saved) => saved.insert(id),
            (_, SaveOutcome::Lost(winner)) => lost_to.insert(winner.id),
        };
    }
    (saved, lost_to)
}

async fn of_first_calls_with_one_key_one_is_saved(it: Fixture) {
    let calls = (0..CALLS)
        .map(|_| it.result(answered(), Some("order 1")))
        .collect();
    let (saved, lost_to) = save_at_once(&it, calls).await;
    assert_eq!(saved.len(), 1);
    assert_eq!(lost_to, saved);
    assert_eq!(it.results_made().await, 1);
}

async fn of_retries_of_one_result_with_a_key_one_is_saved(it: Fixture) {
    let first = it.result(failed(), Some("order 1"));
    it.database.save_result(&first).await.unwrap();
    let calls = (0..CALLS)
        .map(|_| it.retry(&first.result, answered()))
        .collect();
    let (saved, lost_to) = save_at_once(&it, calls).await;
    assert_eq!(saved.len(), 1);
    assert_eq!(lost_to, saved);
    assert_eq!(it.results_made().await, 2);
    let key = idempotency_key("order 1");
    let holder = it
        .database
        .find_result_by_key(it.account, &key)
        .await
        .unwrap();
    assert_eq!(holder.map(|result| result.id), saved.first().copied());
}

async fn of_retries_of_one_result_without_a_key_one_is_saved(it: Fixture) {
    let first = it.result(failed(), None);
    it.database.save_result(&first).await.unwrap();
    let calls = (0..CALLS)
        .map(|_| it.retry(&first.result, answered()))
        .collect();
    let (saved, lost_to) = save_at_once(&it, calls).await;
    assert_eq!(saved.len(), 1);
    assert_eq!(lost_to, saved);
    assert_eq!(it.results_made().await, 2);
}

async fn a_first_call_and_retries_with_one_key_leave_one_holder(it: Fixture) {
    let first = it.result(failed(), Some("order 1"));
    it.database.save_result(&first).await.unwrap();
    // create calls that found the key free before the result above was saved
    let late = (0..CALLS / 2).map(|_| it.result(answered(), Some("order 1")));
    let retries = (0..CALLS / 2).map(|_| it.retry(&first.result, answered()));
    let mixed = late.zip(retries).flat_map(<[NewResult; 2]>::from).collect();
    let (saved, lost_to) = save_at_once(&it, mixed).await;
    assert_eq!(saved.len(), 1, "one of the retries");
    let possible: BTreeSet<_> = saved.iter().copied().chain([first.result.id]).collect();
    assert!(lost_to.is_subset(&possible));
    assert_eq!(it.results_made().await, 2);
    let key = idempotency_key("order 1");
    let holder = it
        .database
        .find_result_by_key(it.account, &key)
        .await
        .unwrap();
    assert_eq!(holder.map(|result| result.id), saved.first().copied());
}
