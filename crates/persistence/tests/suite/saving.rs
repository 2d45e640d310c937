//! Saving results, one call at a time.

use refract_domain::prism::VersionNumber;
use refract_domain::submission::Ref;
use refract_persistence::{NewResult, SaveOutcome};
use refract_test_support::on_both;

use crate::fixture::{Fixture, account, answered, failed, idempotency_key, prism, submission};

on_both!(
    what_was_saved_is_read_back,
    a_taken_idempotency_key_gives_the_result_that_holds_it,
    a_key_held_for_another_prism_loses_all_the_same,
    saving_again_what_was_saved_is_no_second_result,
    a_result_of_no_version_is_refused_without_its_text,
);

async fn what_was_saved_is_read_back(it: Fixture) {
    let mut ok = it.result(answered(), Some("order 1"));
    ok.result.reference = Some(Ref::parse("Ref 'ü' \u{1f984}").unwrap());
    let failed = NewResult {
        api_key: None,
        ..it.result(failed(), None)
    };
    for new in [ok, failed] {
        assert_eq!(
            it.database.save_result(&new).await.unwrap(),
            SaveOutcome::Saved
        );
        assert_eq!(it.read(new.result.id).await, Some(new.result));
    }
    let key = idempotency_key("order 1");
    let held = it
        .database
        .find_result_by_key(it.account, &key)
        .await
        .unwrap();
    assert_eq!(
        held.unwrap().reference.unwrap().as_str(),
        "Ref 'ü' \u{1f984}"
    );
}

async fn a_taken_idempotency_key_gives_the_result_that_holds_it(it: Fixture) {
    let winner = it.result(failed(), Some("order 1"));
    assert_eq!(
        it.database.save_result(&winner).await.unwrap(),
        SaveOutcome::Saved
    );
    let loser = it.result(answered(), Some("order 1"));
    let saving = it.database.save_result(&loser).await.unwrap();
    assert_eq!(saving, SaveOutcome::Lost(winner.result));
    assert_eq!(it.read(loser.result.id).await, None);
}

async fn a_key_held_for_another_prism_loses_all_the_same(it: Fixture) {
    let other = prism(&it.database, it.account, "Other").await;
    let winner = it.result(answered(), Some("order 1"));
    it.database.save_result(&winner).await.unwrap();
    let mut loser = it.result(answered(), Some("order 1"));
    loser.result.prism = other.id;
    let SaveOutcome::Lost(held) = it.database.save_result(&loser).await.unwrap() else {
        panic!("two results hold one key");
    };
    held.repeat(other.id).unwrap_err();
}

async fn saving_again_what_was_saved_is_no_second_result(it: Fixture) {
    let plain = it.result(answered(), None);
    let keyed = it.result(failed(), Some("order 1"));
    let retry = it.retry(&keyed.result, failed());
    let second_retry = it.retry(&retry.result, answered());
    for new in [&plain, &keyed, &retry, &second_retry] {
        assert_eq!(
            it.database.save_result(new).await.unwrap(),
            SaveOutcome::Saved
        );
        assert_eq!(
            it.database.save_result(new).await.unwrap(),
            SaveOutcome::Saved
        );
    }
    // the key has moved on twice, but a repeated save of the first result still counts as saved
    assert_eq!(
        it.database.save_result(&keyed).await.unwrap(),
        SaveOutcome::Saved
    );
    let key = idempotency_key("order 1");
    let held = it
        .database
        .find_result_by_key(it.account, &key)
        .await
        .unwrap();
    assert_eq!(held, Some(second_retry.result));
    assert_eq!(it.results_made().await, 4);
}

async fn a_result_of_no_version_is_refused_without_its_text(it: Fixture) {
    let text = "a very private text";
    let mut new = it.result(answered(), Some("private key"));
    new.result.version = VersionNumber::new(7).unwrap();
    new.result.submission = submission(text);
    let error = it.database.save_result(&new).await.unwrap_err();
    assert!(!error.is_passing(), "{error}");
    for words in [error.to_string(), format!("{error:?}")] {
        assert!(!words.contains("private"), "{words}");
    }
    assert_eq!(it.read(new.result.id).await, None);
    account(&it.database, "the connection is still good").await;
}
