//! Retries: a new result, and an idempotency key that moves to it.

use refract_domain::prism::VersionNumber;
use refract_persistence::SaveOutcome;
use refract_test_support::on_both;

use crate::fixture::{Fixture, answered, failed, idempotency_key};

on_both!(
    a_retry_takes_the_idempotency_key_with_it,
    a_retry_without_a_key_leaves_the_old_result_as_it_was,
    a_second_retry_loses_to_the_first_and_changes_nothing,
    a_retry_that_is_refused_leaves_the_key_where_it_was,
);

async fn a_retry_takes_the_idempotency_key_with_it(it: Fixture) {
    let first = it.result(failed(), Some("order 1"));
    it.database.save_result(&first).await.unwrap();
    let second = it.retry(&first.result, answered());
    assert_eq!(
        it.database.save_result(&second).await.unwrap(),
        SaveOutcome::Saved
    );

    let key = idempotency_key("order 1");
    let held = it
        .database
        .find_result_by_key(it.account, &key)
        .await
        .unwrap();
    assert_eq!(held.as_ref(), Some(&second.result));
    let mut old = first.result;
    old.idempotency_key = None;
    assert_eq!(it.read(old.id).await, Some(old));
}

async fn a_retry_without_a_key_leaves_the_old_result_as_it_was(it: Fixture) {
    let first = it.result(failed(), None);
    it.database.save_result(&first).await.unwrap();
    let second = it.retry(&first.result, failed());
    assert_eq!(
        it.database.save_result(&second).await.unwrap(),
        SaveOutcome::Saved
    );
    assert_eq!(it.read(first.result.id).await, Some(first.result));
    assert_eq!(it.read(second.result.id).await, Some(second.result));
}

async fn a_second_retry_loses_to_the_first_and_changes_nothing(it: Fixture) {
    for key in [None, Some("order 1")] {
        let first = it.result(failed(), key);
        it.database.save_result(&first).await.unwrap();
        let second = it.retry(&first.result, failed());
        it.database.save_result(&second).await.unwrap();
        let late = it.retry(&first.result, answered());
        let saving = it.database.save_result(&late).await.unwrap();
        assert_eq!(saving, SaveOutcome::Lost(second.result.clone()));
        assert_eq!(it.read(late.result.id).await, None);
        assert_eq!(it.read(second.result.id).await, Some(second.result));
    }
}

async fn a_retry_that_is_refused_leaves_the_key_where_it_was(it: Fixture) {
    let first = it.result(failed(), Some("order 1"));
    it.database.save_result(&first).await.unwrap();
    let mut broken = it.retry(&first.result, answered());
    broken.result.version = VersionNumber::new(99).unwrap();
    it.database.save_result(&broken).await.unwrap_err();
    assert_eq!(it.read(first.result.id).await, Some(first.result));
}
