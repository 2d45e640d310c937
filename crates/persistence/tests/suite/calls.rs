//! The single queries of API calls.

use refract_domain::account::ApiKeyHash;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::prism::PrismSelector;
use refract_persistence::{FoundResult, SaveOutcome};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{
    Fixture, account, answered, failed, idempotency_key, moment, new_key, new_stamp, prism,
};

on_both!(
    a_create_call_finds_key_prism_and_holder_of_the_idempotency_key,
    an_unknown_key_finds_nothing,
    another_account_shares_nothing,
    an_archived_prism_is_found_as_archived,
    a_result_call_finds_result_and_prism,
    a_retried_result_names_its_retry,
);

async fn a_create_call_finds_key_prism_and_holder_of_the_idempotency_key(it: Fixture) {
    let held = it.result(failed(), Some("order 1"));
    it.database.save_result(&held).await.unwrap();
    it.database
        .save_result(&it.result(answered(), Some("order 2")))
        .await
        .unwrap();

    for selector in [it.selector(), PrismSelector::Slug("triage".to_owned())] {
        let key = idempotency_key("order 1");
        let call = it
            .database
            .find_create_call(&it.key.hash, &selector, Some(&key), moment(9))
            .await;
        let call = call.unwrap().unwrap();
        assert_eq!(call.key.id, it.key.id);
        assert_eq!(call.key.account, it.account);
        assert!(!call.key.is_revoked);
        assert_eq!(call.prism.as_ref(), Some(&it.prism));
        assert_eq!(call.held.as_deref(), Some(&held.result));

        let free = idempotency_key("order 3");
        let call = it
            .database
            .find_create_call(&it.key.hash, &selector, Some(&free), moment(9))
            .await;
        assert_eq!(call.unwrap().unwrap().held, None);
        let call = it
            .database
            .find_create_call(&it.key.hash, &selector, None, moment(9))
            .await;
        assert_eq!(call.unwrap().unwrap().held, None);
    }

    let unknown = [
        PrismSelector::Id(PrismId::new(Uuid::now_v7())),
        PrismSelector::Slug("x".to_owned()),
    ];
    for selector in unknown {
        let key = idempotency_key("order 1");
        let call = it
            .database
            .find_create_call(&it.key.hash, &selector, Some(&key), moment(9))
            .await;
        let call = call.unwrap().unwrap();
        assert_eq!(call.prism, None);
        assert_eq!(call.held.as_deref(), Some(&held.result));
    }
}

async fn an_unknown_key_finds_nothing(it: Fixture) {
    let unknown = ApiKeyHash::new([9; 32]);
    let call = it
        .database
        .find_create_call(&unknown, &it.selector(), None, moment(9))
        .await
        .unwrap();
    assert!(call.is_none());
    let saved = it.result(answered(), None);
    it.database.save_result(&saved).await.unwrap();
    let call = it
        .database
        .find_result_call(&unknown, saved.result.id, moment(9))
        .await
        .unwrap();
    assert!(call.is_none());
}

async fn another_account_shares_nothing(it: Fixture) {
    let elsewhere = account(&it.database, "elsewhere").await;
    let stranger = new_key(elsewhere, 2);
    it.database
        .create_api_key(&stranger, new_stamp(elsewhere, 0))
        .await
        .unwrap();
    let saved = it.result(answered(), Some("order 1"));
    it.database.save_result(&saved).await.unwrap();

    for selector in [it.selector(), PrismSelector::Slug("triage".to_owned())] {
        let key = idempotency_key("order 1");
        let call = it
            .database
            .find_create_call(&stranger.hash, &selector, Some(&key), moment(9))
            .await;
        let call = call.unwrap().unwrap();
        assert_eq!(
            (call.key.account, call.prism, call.held),
            (elsewhere, None, None)
        );
        assert_eq!(
            it.database.find_prism(elsewhere, &selector).await.unwrap(),
            None
        );
    }
    let call = it
        .database
        .find_result_call(&stranger.hash, saved.result.id, moment(9))
        .await
        .unwrap();
    assert!(call.unwrap().result.is_none());
    assert!(
        it.database
            .find_result(elsewhere, saved.result.id)
            .await
            .unwrap()
            .is_none()
    );
    let key = idempotency_key("order 1");
    assert_eq!(
        it.database
            .find_result_by_key(elsewhere, &key)
            .await
            .unwrap(),
        None
    );

    // another account may use this account's slug and idempotency key
    let theirs = prism(&it.database, elsewhere, "Triage").await;
    assert_eq!(theirs.slug, it.prism.slug);
    let mut new = it.result(answered(), Some("order 1"));
    (new.account, new.api_key, new.result.prism) = (elsewhere, Some(stranger.id), theirs.id);
    assert_eq!(
        it.database.save_result(&new).await.unwrap(),
        SaveOutcome::Saved
    );
}

async fn an_archived_prism_is_found_as_archived(it: Fixture) {
    it.database
        .set_prism_archived(it.prism.id, true, it.stamp(8))
        .await
        .unwrap();
    let call = it
        .database
        .find_create_call(&it.key.hash, &it.selector(), None, moment(9))
        .await
        .unwrap();
    assert_eq!(call.unwrap().prism.unwrap().archived_at, Some(moment(8)));
    it.database
        .set_prism_archived(it.prism.id, false, it.stamp(9))
        .await
        .unwrap();
    let call = it
        .database
        .find_create_call(&it.key.hash, &it.selector(), None, moment(9))
        .await
        .unwrap();
    assert_eq!(call.unwrap().prism, Some(it.prism.clone()));
}

async fn a_result_call_finds_result_and_prism(it: Fixture) {
    let saved = it.result(answered(), Some("order 1"));
    it.database.save_result(&saved).await.unwrap();
    let call = it
        .database
        .find_result_call(&it.key.hash, saved.result.id, moment(9))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (call.key.id, call.key.account, call.key.is_revoked),
        (it.key.id, it.account, false)
    );
    assert_eq!(
        call.result,
        Some(FoundResult {
            result: saved.result.clone(),
            prism: it.prism.clone(),
        })
    );

    let unknown = ResultId::new(Uuid::now_v7());
    let call = it
        .database
        .find_result_call(&it.key.hash, unknown, moment(9))
        .await
        .unwrap()
        .unwrap();
    assert!(call.result.is_none());

    it.database
        .revoke_api_key(it.key.id, it.stamp(1))
        .await
        .unwrap();
    let call = it
        .database
        .find_result_call(&it.key.hash, saved.result.id, moment(9))
        .await
        .unwrap()
        .unwrap();
    assert!(call.key.is_revoked);
}

async fn a_retried_result_names_its_retry(it: Fixture) {
    let first = it.result(failed(), None);
    it.database.save_result(&first).await.unwrap();
    let second = it.retry(&first.result, answered());
    it.database.save_result(&second).await.unwrap();
    let found = it
        .database
        .find_result_call(&it.key.hash, first.result.id, moment(9))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.result.unwrap().result, first.result);
    let retry = it.database.find_retry(first.result.id).await.unwrap();
    assert_eq!(retry, Some(second.result.id));
    let retry = it.database.find_retry(second.result.id).await.unwrap();
    assert_eq!(retry, None);
}
