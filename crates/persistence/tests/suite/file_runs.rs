//! The results that a file run finds for its rows.

use refract_domain::ids::PrismId;
use refract_persistence::HeldRows;
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, account, answered, failed, idempotency_key};

on_both!(
    rows_that_are_answered_are_found_by_their_keys,
    an_archived_or_unknown_prism_does_not_answer,
);

async fn held(it: &Fixture, keys: &[&str]) -> HeldRows {
    let keys: Vec<_> = keys.iter().map(|key| idempotency_key(key)).collect();
    let found = it.database.find_held_rows(it.account, it.prism.id, &keys);
    found.await.unwrap()
}

async fn rows_that_are_answered_are_found_by_their_keys(it: Fixture) {
    let one = it.result(answered(), Some("row 1"));
    let two = it.result(failed(), Some("row 2"));
    let three = it.result(answered(), None);
    for new in [&one, &two, &three] {
        it.database.save_result(new).await.unwrap();
    }
    let mut found = held(&it, &["row 2", "row 9", "row 1"]).await;
    assert!(found.prism_answers);
    found.held.sort_by_key(|result| result.id);
    assert_eq!(found.held, [one.result, two.result]);
    assert!(held(&it, &[]).await.held.is_empty());
    let stranger = account(&it.database, "strangers").await;
    let keys = [idempotency_key("row 1")];
    let found = it.database.find_held_rows(stranger, it.prism.id, &keys);
    assert!(found.await.unwrap().held.is_empty());
    let found = it.database.find_answered_keys(stranger, &keys).await;
    assert!(found.unwrap().is_empty());
    let keys = ["row 1", "row 2", "row 9"].map(idempotency_key);
    let found = it.database.find_answered_keys(it.account, &keys).await;
    let found: Vec<_> = found.unwrap().into_iter().collect();
    assert_eq!(found, [idempotency_key("row 1")], "no failed one");
}

async fn an_archived_or_unknown_prism_does_not_answer(it: Fixture) {
    let archiving = it
        .database
        .set_prism_archived(it.prism.id, true, it.stamp(1));
    archiving.await.unwrap();
    assert!(!held(&it, &[]).await.prism_answers);
    let unknown = PrismId::new(Uuid::now_v7());
    let found = it.database.find_held_rows(it.account, unknown, &[]).await;
    assert!(!found.unwrap().prism_answers);
}
