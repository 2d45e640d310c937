//! API keys: creation, listing, revocation, counts of use.

use std::net::IpAddr;

use refract_domain::account::KeyNetworks;
use refract_domain::ids::ApiKeyId;
use refract_domain::prism::PrismSelector;
use refract_persistence::{KeyUse, NewApiKey, NewResult, SetNetworksOutcome, StoredKey};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{
    Fixture, account, answered, failed, idempotency_key, moment, new_key, new_stamp, results_made,
};

on_both!(
    keys_are_listed_oldest_first_with_what_they_made,
    a_key_is_revoked_for_good,
    a_key_of_another_account_is_not_revoked,
    a_key_opens_nothing_from_its_end_on,
    a_key_is_found_with_its_networks,
    networks_of_another_account_are_not_set,
    only_a_later_use_is_noted,
    two_keys_of_one_hash_are_refused,
);

async fn keys(it: &Fixture) -> Vec<StoredKey> {
    let listing = it.database.list_uncounted_api_keys(it.account);
    listing.await.unwrap()
}

async fn keys_are_listed_oldest_first_with_what_they_made(it: Fixture) {
    let second = new_key(it.account, 2);
    it.database
        .create_api_key(&second, it.stamp(0))
        .await
        .unwrap();
    let elsewhere = account(&it.database, "elsewhere").await;
    it.database
        .create_api_key(&new_key(elsewhere, 3), new_stamp(elsewhere, 0))
        .await
        .unwrap();

    let first = it.result(failed(), None);
    it.database.save_result(&first).await.unwrap();
    it.database
        .save_result(&it.retry(&first.result, answered()))
        .await
        .unwrap();
    let by_nobody = NewResult {
        api_key: None,
        ..it.result(answered(), None)
    };
    it.database.save_result(&by_nobody).await.unwrap();

    let expected = |id, name: &str, results_made| {
        let key = StoredKey {
            id,
            name: name.to_owned(),
            first_characters: "rk_abcd".to_owned(),
            created_at: moment(0),
            last_used_at: None,
            revoked_at: None,
            made_by: None,
            expires_at: None,
            networks: None,
            last_used_from: None,
            replaces: None,
        };
        (key, results_made)
    };
    let expected = [
        expected(it.key.id, "key 1", 2),
        expected(second.id, "key 2", 0),
    ];
    let mut listed = Vec::new();
    for key in keys(&it).await {
        let made = results_made(&it.database, it.account, key.id).await;
        listed.push((key, made));
    }
    assert_eq!(listed, expected);
}

async fn a_key_is_revoked_for_good(it: Fixture) {
    let revoke = async |milliseconds| {
        it.database
            .revoke_api_key(it.key.id, it.stamp(milliseconds))
            .await
            .unwrap()
    };
    assert_eq!(revoke(5).await, Some(moment(5)));
    assert_eq!(revoke(9).await, Some(moment(5)), "the first time counts");
    assert_eq!(keys(&it).await[0].revoked_at, Some(moment(5)));
    let call = it
        .database
        .find_create_call(&it.key.hash, &it.selector(), None, moment(9))
        .await
        .unwrap();
    assert!(call.unwrap().key.is_revoked);
}

async fn a_key_of_another_account_is_not_revoked(it: Fixture) {
    let elsewhere = account(&it.database, "elsewhere").await;
    let revoked = it
        .database
        .revoke_api_key(it.key.id, new_stamp(elsewhere, 5))
        .await
        .unwrap();
    assert_eq!(revoked, None);
    let unknown = ApiKeyId::new(Uuid::now_v7());
    let revoked = it
        .database
        .revoke_api_key(unknown, it.stamp(5))
        .await
        .unwrap();
    assert_eq!(revoked, None);
    assert_eq!(keys(&it).await[0].revoked_at, None);
}

async fn a_key_opens_nothing_from_its_end_on(it: Fixture) {
    let saved = it.result(answered(), Some("order 1"));
    it.database.save_result(&saved).await.unwrap();
    let ending = NewApiKey {
        expires_at: Some(moment(1_000)),
        ..new_key(it.account, 2)
    };
    it.database
        .create_api_key(&ending, it.stamp(0))
        .await
        .unwrap();
    assert_eq!(keys(&it).await[1].expires_at, Some(moment(1_000)));
    let key = idempotency_key("order 1");
    let slug = PrismSelector::Slug("triage".to_owned());
    for (hash, milliseconds, opens) in [
        (it.key.hash, 1_000_000, true),
        (ending.hash, 0, true),
        (ending.hash, 999, true),
        (ending.hash, 1_000, false),
        (ending.hash, 1_001, false),
    ] {
        let now = moment(milliseconds);
        for selector in [it.selector(), slug.clone()] {
            for key in [None, Some(&key)] {
                let finding = it.database.find_create_call(&hash, &selector, key, now);
                let found = finding.await.unwrap();
                assert_eq!(found.is_some(), opens, "{milliseconds} {selector:?}");
            }
        }
        let finding = it.database.find_result_call(&hash, saved.result.id, now);
        assert_eq!(finding.await.unwrap().is_some(), opens, "{milliseconds}");
    }
}

async fn a_key_is_found_with_its_networks(it: Fixture) {
    let saved = it.result(answered(), None);
    it.database.save_result(&saved).await.unwrap();
    let networks = KeyNetworks::parse("10.0.0.0/8, 2001:db8::/32").unwrap();
    let limited = NewApiKey {
        networks: networks.clone(),
        ..new_key(it.account, 2)
    };
    it.database
        .create_api_key(&limited, it.stamp(0))
        .await
        .unwrap();
    for (key, expected) in [(&it.key, None), (&limited, networks.clone())] {
        let (hash, selector) = (&key.hash, it.selector());
        let creating = it
            .database
            .find_create_call(hash, &selector, None, moment(9));
        let reading = it
            .database
            .find_result_call(hash, saved.result.id, moment(9));
        let found = [
            creating.await.unwrap().unwrap().key,
            reading.await.unwrap().unwrap().key,
        ];
        for row in found {
            assert_eq!((row.id, &row.networks), (key.id, &expected));
        }
    }
    let set = async |networks: Option<&KeyNetworks>| {
        let setting = it
            .database
            .set_key_networks(limited.id, networks, it.stamp(9));
        setting.await.unwrap()
    };
    let saved = async || keys(&it).await[1].networks.clone();
    assert_eq!(set(networks.as_ref()).await, SetNetworksOutcome::Unchanged);
    assert_eq!(saved().await, networks);
    assert_eq!(set(None).await, SetNetworksOutcome::Changed);
    assert_eq!(saved().await, None);
}

async fn networks_of_another_account_are_not_set(it: Fixture) {
    let elsewhere = account(&it.database, "elsewhere").await;
    let networks = KeyNetworks::parse("10.0.0.0/8").unwrap();
    let stranger = new_stamp(elsewhere, 5);
    let setting = it
        .database
        .set_key_networks(it.key.id, networks.as_ref(), stranger);
    assert_eq!(setting.await.unwrap(), SetNetworksOutcome::NotFound);
    assert_eq!(keys(&it).await[0].networks, None);
}

async fn only_a_later_use_is_noted(it: Fixture) {
    let second = new_key(it.account, 2);
    it.database
        .create_api_key(&second, it.stamp(0))
        .await
        .unwrap();
    let client = |text: &str| -> Option<IpAddr> { text.parse().ok() };
    let used = |key, milliseconds, address| KeyUse {
        key,
        at: moment(milliseconds),
        client: client(address),
    };
    let note = async |uses: &[_]| it.database.note_key_use(uses).await.unwrap();
    note(&[]).await;
    note(&[
        used(second.id, 3, "192.0.2.3"),
        used(it.key.id, 20, "2001:db8::20"),
    ])
    .await;
    note(&[
        used(it.key.id, 10, "192.0.2.10"),
        used(second.id, 4, "192.0.2.4"),
        used(second.id, 1, "192.0.2.1"),
    ])
    .await;
    let last_uses = async || {
        let rows = keys(&it).await.into_iter();
        rows.map(|row| (row.last_used_at, row.last_used_from))
            .collect::<Vec<_>>()
    };
    let at = |milliseconds, address: Option<&str>| {
        (Some(moment(milliseconds)), address.map(str::to_owned))
    };
    let first = at(20, Some("2001:db8::20"));
    let expected = [first.clone(), at(4, Some("192.0.2.4"))];
    assert_eq!(last_uses().await, expected);
    // a client without an address
    note(&[used(second.id, 5, "")]).await;
    assert_eq!(last_uses().await, [first, at(5, None)]);
}

async fn two_keys_of_one_hash_are_refused(it: Fixture) {
    let error = it
        .database
        .create_api_key(&new_key(it.account, 1), it.stamp(0))
        .await
        .unwrap_err();
    assert!(!error.is_passing(), "{error}");
    assert_eq!(keys(&it).await.len(), 1);
}
