//! Who made what: results, keys, versions and other changes of a prism.

use refract_domain::ids::{PersonId, ResultId};
use refract_domain::lens::Lens;
use refract_domain::prism::{DisplayName, VersionNumber};
use refract_persistence::{
    ChangeKind, NewResult, NewVersion, Prism, PrismChangeRow, ResultActorRow, VersionRow,
    WriteOutcome,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, account, answered, failed, lens_details, moment, new_key, version};

on_both!(
    a_result_names_who_made_it,
    results_saved_at_once_name_who_made_each,
    a_key_names_who_made_it,
    a_version_names_who_saved_it,
    changes_are_listed_in_the_order_of_their_making,
    what_changes_nothing_is_no_change,
    a_stale_lens_is_no_change,
);

fn person() -> PersonId {
    PersonId::new(Uuid::now_v7())
}

async fn actor(it: &Fixture, result: ResultId) -> Option<ResultActorRow> {
    it.database
        .find_result_actor(it.account, result)
        .await
        .unwrap()
}

async fn changes(it: &Fixture) -> Vec<PrismChangeRow> {
    it.database.list_prism_changes(it.prism.id).await.unwrap()
}

async fn current(it: &Fixture) -> Prism {
    let found = it.database.find_prism_by_id(it.prism.id).await;
    found.unwrap().unwrap()
}

async fn a_result_names_who_made_it(it: Fixture) {
    let person = person();
    let by_key = it.result(answered(), None);
    let by_person = NewResult {
        api_key: None,
        made_by: Some(person),
        ..it.result(failed(), Some("order 1"))
    };
    let retry = NewResult {
        api_key: None,
        made_by: Some(person),
        ..it.retry(&by_person.result, answered())
    };
    for new in [&by_key, &by_person, &retry] {
        it.database.save_result(new).await.unwrap();
        let expected = ResultActorRow {
            api_key: new.api_key,
            person: new.made_by,
        };
        assert_eq!(actor(&it, new.result.id).await, Some(expected));
    }
    let elsewhere = account(&it.database, "elsewhere").await;
    let found = it
        .database
        .find_result_actor(elsewhere, retry.result.id)
        .await;
    assert_eq!(found.unwrap(), None);
}

async fn results_saved_at_once_name_who_made_each(it: Fixture) {
    let by_turns = |number| NewResult {
        made_by: (number % 2 == 0).then(person),
        ..it.result(answered(), None)
    };
    let new: Vec<NewResult> = (0..40).map(by_turns).collect();
    let saving = new.iter().cloned().map(|new| {
        let database = it.database.clone();
        tokio::spawn(async move { database.save_result(&new).await.unwrap() })
    });
    for saving in saving.collect::<Vec<_>>() {
        saving.await.unwrap();
    }
    for new in &new {
        let found = actor(&it, new.result.id).await.unwrap();
        assert_eq!(found.person, new.made_by);
    }
}

async fn a_key_names_who_made_it(it: Fixture) {
    let person = person();
    let new = new_key(it.account, 2);
    let made = it.stamp_of(person, 0);
    it.database.create_api_key(&new, made).await.unwrap();
    let keys = it.database.list_uncounted_api_keys(it.account);
    let keys = keys.await.unwrap();
    let made_by: Vec<_> = keys.iter().map(|key| key.made_by).collect();
    assert_eq!(made_by, [None, Some(person)]);
}

async fn a_version_names_who_saved_it(it: Fixture) {
    let person = person();
    let name = DisplayName::parse("Triage").unwrap();
    let new = NewVersion {
        name: &name,
        version: &version(&["calm"]),
        lens: Some((&Lens::Automatic, lens_details())),
        stamp: it.stamp_of(person, 5),
    };
    it.database.save_version(&it.prism, &new).await.unwrap();
    let row = |number, made_by, milliseconds| VersionRow {
        number: VersionNumber::new(number).unwrap(),
        made_by,
        created_at: moment(milliseconds),
    };
    let listed = it.database.list_versions(it.prism.id).await.unwrap();
    assert_eq!(listed, [row(1, None, 0), row(2, Some(person), 5)]);
    assert_eq!(changes(&it).await, [], "the version's lens is part of it");
}

async fn changes_are_listed_in_the_order_of_their_making(it: Fixture) {
    let person = person();
    let change = |milliseconds| it.stamp_of(person, milliseconds);
    let (database, prism) = (&it.database, it.prism.id);
    let custom = Lens::Custom(Vec::new());
    database
        .save_lens(&it.prism, &custom, lens_details(), change(1))
        .await
        .unwrap();
    let name = DisplayName::parse("Sorting").unwrap();
    database
        .rename_prism(prism, &name, change(2))
        .await
        .unwrap();
    database
        .save_lens(
            &current(&it).await,
            &Lens::Automatic,
            lens_details(),
            it.stamp(3),
        )
        .await
        .unwrap();
    for (archived, milliseconds) in [(true, 4), (false, 5)] {
        let setting = database.set_prism_archived(prism, archived, change(milliseconds));
        setting.await.unwrap();
    }
    let row = |kind, made_by, milliseconds| PrismChangeRow {
        kind,
        made_by,
        made_at: moment(milliseconds),
    };
    let expected = [
        row(ChangeKind::LensSet, Some(person), 1),
        row(ChangeKind::Renamed, Some(person), 2),
        row(ChangeKind::LensReset, None, 3),
        row(ChangeKind::Archived, Some(person), 4),
        row(ChangeKind::Restored, Some(person), 5),
    ];
    assert_eq!(changes(&it).await, expected);
}

async fn what_changes_nothing_is_no_change(it: Fixture) {
    let (database, prism) = (&it.database, it.prism.id);
    let same = DisplayName::parse("Triage").unwrap();
    database
        .rename_prism(prism, &same, it.stamp(1))
        .await
        .unwrap();
    let restoring = database.set_prism_archived(prism, false, it.stamp(2));
    restoring.await.unwrap();
    assert_eq!(changes(&it).await, []);
    for milliseconds in [3, 4] {
        let archiving = database.set_prism_archived(prism, true, it.stamp(milliseconds));
        archiving.await.unwrap();
    }
    assert_eq!(changes(&it).await.len(), 1);
    let archived_at = current(&it).await.archived_at;
    assert_eq!(archived_at, Some(moment(3)), "the first time counts");
}

async fn a_stale_lens_is_no_change(it: Fixture) {
    let custom = Lens::Custom(Vec::new());
    for expected in [WriteOutcome::Saved, WriteOutcome::Stale] {
        let saving = it
            .database
            .save_lens(&it.prism, &custom, lens_details(), it.stamp(1));
        assert_eq!(saving.await.unwrap(), expected);
    }
    assert_eq!(changes(&it).await.len(), 1);
}
