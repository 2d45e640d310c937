//! Keys that replace others, and keys that end soon.

use std::sync::Arc;

use refract_domain::account::{ApiKeyHash, KeyNetworks};
use refract_domain::event::EventAction;
use refract_domain::ids::ApiKeyId;
use refract_persistence::{
    KeyUse, NewApiKey, NewSuccessor, ReplaceKeyOutcome, SetNetworksOutcome, StoredKey,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::events::events;
use crate::fixture::{Fixture, account, moment, new_key, new_stamp};

on_both!(
    a_successor_has_the_name_and_networks_of_its_key,
    a_key_has_one_successor_that_is_not_revoked,
    of_replacements_at_once_one_is_saved,
    what_nobody_uses_is_not_replaced,
    used_keys_that_end_in_a_period_are_listed_by_their_end,
);

/// A successor whose hash is this byte 32 times. The key then ends at moment 5,000.
fn successor(replaces: ApiKeyId, byte: u8) -> NewSuccessor {
    NewSuccessor {
        id: ApiKeyId::new(Uuid::now_v7()),
        replaces,
        hash: ApiKeyHash::new([byte; 32]),
        first_characters: "rk_next".to_owned(),
        expires_at: None,
        replaced_ends_at: moment(5_000),
    }
}

async fn replace(it: &Fixture, new: &NewSuccessor) -> ReplaceKeyOutcome {
    let replacing = it.database.replace_api_key(new, it.stamp(100));
    replacing.await.unwrap()
}

async fn stored(it: &Fixture, key: ApiKeyId) -> StoredKey {
    let listing = it.database.list_uncounted_api_keys(it.account);
    let mut rows = listing.await.unwrap().into_iter();
    rows.find(|row| row.id == key).unwrap()
}

async fn use_key(it: &Fixture, key: ApiKeyId, milliseconds: i64) {
    let used = KeyUse {
        key,
        at: moment(milliseconds),
        client: None,
    };
    it.database.note_key_use(&[used]).await.unwrap();
}

async fn a_successor_has_the_name_and_networks_of_its_key(it: Fixture) {
    let networks = KeyNetworks::parse("10.0.0.0/8").unwrap();
    let setting = it
        .database
        .set_key_networks(it.key.id, networks.as_ref(), it.stamp(1));
    assert_eq!(setting.await.unwrap(), SetNetworksOutcome::Changed);
    let before = events(&it).await.len();
    let new = NewSuccessor {
        expires_at: Some(moment(9_000)),
        ..successor(it.key.id, 2)
    };
    let ends_at = moment(5_000);
    let replaced = replace(&it, &new).await;
    assert_eq!(replaced, ReplaceKeyOutcome::Replaced { ends_at });
    let (old, made) = (stored(&it, it.key.id).await, stored(&it, new.id).await);
    assert_eq!((old.expires_at, old.replaces), (Some(ends_at), None));
    assert_eq!((&made.name, &made.networks), (&old.name, &networks));
    assert_eq!(made.expires_at, Some(moment(9_000)));
    assert_eq!(made.replaces, Some(it.key.id));
    assert_eq!(made.created_at, moment(100));
    // both open the account
    let selector = it.selector();
    for hash in [it.key.hash, new.hash] {
        let finding = it
            .database
            .find_create_call(&hash, &selector, None, moment(4_999));
        assert!(!finding.await.unwrap().unwrap().key.is_revoked);
    }
    let listed = events(&it).await;
    assert_eq!(listed.len(), before + 2);
    let details = |action| {
        let event = listed.iter().find(|event| event.action == action).unwrap();
        let text = |detail: &Option<_>| detail.as_ref().map(ToString::to_string);
        (text(&event.from), text(&event.to))
    };
    let end = moment(5_000).to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
    let expected = (Some("no end".to_owned()), Some(format!("ends {end}")));
    assert_eq!(details(EventAction::KeyChanged), expected);
    let (_, created) = details(EventAction::KeyCreated);
    let created = created.unwrap();
    let begins = format!("in place of key {}, ends ", it.key.id);
    assert!(created.starts_with(&begins), "{created}");
    assert!(created.ends_with(", from 10.0.0.0/8"), "{created}");
}

async fn a_key_has_one_successor_that_is_not_revoked(it: Fixture) {
    let first = successor(it.key.id, 2);
    replace(&it, &first).await;
    let before = events(&it).await;
    let outcome = replace(&it, &successor(it.key.id, 3)).await;
    let expected = ReplaceKeyOutcome::HasSuccessor {
        successor: first.id,
        ends_at: Some(moment(5_000)),
    };
    assert_eq!(outcome, expected);
    assert_eq!(events(&it).await, before);
    it.database
        .revoke_api_key(first.id, it.stamp(200))
        .await
        .unwrap();
    let third = NewSuccessor {
        replaced_ends_at: moment(8_000),
        ..successor(it.key.id, 3)
    };
    // the key ends when it already ended
    let ends_at = moment(5_000);
    let outcome = replace(&it, &third).await;
    assert_eq!(outcome, ReplaceKeyOutcome::Replaced { ends_at });
    assert_eq!(stored(&it, it.key.id).await.expires_at, Some(ends_at));
    // a successor can be replaced too
    let fourth = successor(third.id, 4);
    let outcome = replace(&it, &fourth).await;
    assert_eq!(outcome, ReplaceKeyOutcome::Replaced { ends_at });
}

async fn of_replacements_at_once_one_is_saved(it: Fixture) {
    let it = Arc::new(it);
    let before = events(&it).await.len();
    let replacing = (10..18).map(|byte| {
        let it = Arc::clone(&it);
        tokio::spawn(async move { replace(&it, &successor(it.key.id, byte)).await })
    });
    let mut saved = 0;
    for replacing in replacing.collect::<Vec<_>>() {
        match replacing.await.unwrap() {
            ReplaceKeyOutcome::Replaced { .. } => saved += 1,
            ReplaceKeyOutcome::HasSuccessor { successor, .. } => {
                assert_eq!(stored(&it, successor).await.replaces, Some(it.key.id));
            }
            other @ (ReplaceKeyOutcome::Ended | ReplaceKeyOutcome::NotFound) => {
                panic!("{other:?}")
            }
        }
    }
    assert_eq!(saved, 1);
    assert_eq!(events(&it).await.len(), before + 2);
}

async fn what_nobody_uses_is_not_replaced(it: Fixture) {
    let unknown = ApiKeyId::new(Uuid::now_v7());
    let outcome = replace(&it, &successor(unknown, 2)).await;
    assert_eq!(outcome, ReplaceKeyOutcome::NotFound);
    let elsewhere = account(&it.database, "elsewhere").await;
    let theirs = new_key(elsewhere, 3);
    it.database
        .create_api_key(&theirs, new_stamp(elsewhere, 0))
        .await
        .unwrap();
    let outcome = replace(&it, &successor(theirs.id, 2)).await;
    assert_eq!(outcome, ReplaceKeyOutcome::NotFound);
    let ended = NewApiKey {
        expires_at: Some(moment(100)),
        ..new_key(it.account, 4)
    };
    it.database
        .create_api_key(&ended, it.stamp(0))
        .await
        .unwrap();
    it.database
        .revoke_api_key(it.key.id, it.stamp(1))
        .await
        .unwrap();
    let before = events(&it).await;
    for key in [ended.id, it.key.id] {
        let outcome = replace(&it, &successor(key, 2)).await;
        assert_eq!(outcome, ReplaceKeyOutcome::Ended);
    }
    assert_eq!(events(&it).await, before);
}

async fn used_keys_that_end_in_a_period_are_listed_by_their_end(it: Fixture) {
    let mut keys = Vec::new();
    for (byte, end) in [(2, 3_000), (3, 2_000), (4, 1_000), (5, 4_000), (6, 3_500)] {
        let new = NewApiKey {
            expires_at: Some(moment(end)),
            ..new_key(it.account, byte)
        };
        it.database.create_api_key(&new, it.stamp(0)).await.unwrap();
        keys.push(new.id);
    }
    for key in &keys {
        use_key(&it, *key, 10).await;
    }
    // unused, revoked
    let unused = NewApiKey {
        expires_at: Some(moment(3_000)),
        ..new_key(it.account, 7)
    };
    it.database
        .create_api_key(&unused, it.stamp(0))
        .await
        .unwrap();
    it.database
        .revoke_api_key(keys[4], it.stamp(1))
        .await
        .unwrap();
    let mut first = successor(keys[0], 8);
    replace(&it, &first).await;
    it.database
        .revoke_api_key(first.id, it.stamp(101))
        .await
        .unwrap();
    first = successor(keys[0], 9);
    replace(&it, &first).await;
    use_key(&it, first.id, 200).await;
    let list = async |limit| {
        let listing = it
            .database
            .list_ending_keys(moment(1_000), moment(3_999), limit);
        listing.await.unwrap()
    };
    let listed = list(9).await;
    let ids: Vec<_> = listed.iter().map(|key| key.id).collect();
    assert_eq!(ids, [keys[1], keys[0]], "{listed:?}");
    assert_eq!(listed[1].account, "tests");
    assert_eq!(listed[1].ends_at, moment(3_000));
    assert_eq!(listed[1].times.last_used_at, Some(moment(10)));
    assert_eq!(listed[0].successor, None);
    let of_successor = listed[1].successor.unwrap();
    assert_eq!(of_successor.last_used_at, Some(moment(200)));
    assert_eq!(of_successor.created_at, moment(100));
    assert_eq!(list(1).await.len(), 1);
}
