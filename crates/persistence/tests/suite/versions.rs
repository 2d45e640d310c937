//! Prism versions: saved one after another, never changed.

use refract_domain::lens::Lens;
use refract_domain::prism::{DisplayName, VersionNumber};
use refract_persistence::{NewVersion, WriteOutcome};
use refract_test_support::on_both;

use crate::fixture::{Fixture, connect, lens_details, version};

on_both!(
    a_saved_version_is_the_latest_and_the_others_stay,
    of_versions_saved_at_once_one_is_saved,
    a_history_is_what_the_prism_was_at_one_moment,
    an_unknown_version_is_not_found,
);

fn number(number: i32) -> VersionNumber {
    VersionNumber::new(number).unwrap()
}

async fn a_saved_version_is_the_latest_and_the_others_stay(it: Fixture) {
    let name = DisplayName::parse("Renamed").unwrap();
    let second = version(&["angry", "calm"]);
    let new = NewVersion {
        name: &name,
        version: &second,
        lens: None,
        stamp: it.stamp(1),
    };
    assert_eq!(
        it.database.save_version(&it.prism, &new).await.unwrap(),
        WriteOutcome::Saved
    );
    let found = it
        .database
        .find_prism_by_id(it.prism.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (found.latest_version, found.name.as_str()),
        (number(2), "Renamed")
    );

    // another process reads it, without this one's cache
    for database in [&it.database, &connect(&it.url).await] {
        for (version, expected) in [(1, version(&["angry"])), (2, second.clone())] {
            let found = database
                .find_version(it.prism.id, number(version))
                .await
                .unwrap();
            assert_eq!(*found.unwrap(), expected);
        }
    }
}

async fn of_versions_saved_at_once_one_is_saved(it: Fixture) {
    let save = |_| {
        let (database, read, stamp) = (it.database.clone(), it.prism.clone(), it.stamp(1));
        tokio::spawn(async move {
            let name = DisplayName::parse("Triage").unwrap();
            let version = version(&["angry"]);
            let lens = Some((&Lens::Automatic, lens_details()));
            let new = NewVersion {
                name: &name,
                version: &version,
                lens,
                stamp,
            };
            database.save_version(&read, &new).await.unwrap()
        })
    };
    let savers: Vec<_> = (0..20).map(save).collect();
    let mut saved = 0;
    for saver in savers {
        saved += usize::from(saver.await.unwrap() == WriteOutcome::Saved);
    }
    assert_eq!(saved, 1);
    let history = it
        .database
        .prism_history(it.prism.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(history.versions.len(), 2);
    assert_eq!(history.prism.latest_version, number(2));
    assert_eq!(history.prism.lens_revision, it.prism.lens_revision + 1);
}

async fn a_history_is_what_the_prism_was_at_one_moment(it: Fixture) {
    let versions = [
        version(&["angry"]),
        version(&["calm"]),
        version(&["angry", "calm"]),
    ];
    let mut read = it.prism.clone();
    for version in &versions[1..] {
        let name = DisplayName::parse("Triage").unwrap();
        let new = NewVersion {
            name: &name,
            version,
            lens: None,
            stamp: it.stamp(1),
        };
        assert_eq!(
            it.database.save_version(&read, &new).await.unwrap(),
            WriteOutcome::Saved
        );
        read = it
            .database
            .find_prism_by_id(read.id)
            .await
            .unwrap()
            .unwrap();
    }
    let history = it
        .database
        .prism_history(it.prism.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(history.versions, versions);
    assert_eq!(history.prism, read);
    assert_eq!(history.lens, Lens::Automatic);
}

async fn an_unknown_version_is_not_found(it: Fixture) {
    let found = it
        .database
        .find_version(it.prism.id, number(2))
        .await
        .unwrap();
    assert!(found.is_none());
    let unknown = refract_domain::ids::PrismId::new(uuid::Uuid::now_v7());
    assert!(it.database.prism_history(unknown).await.unwrap().is_none());
}
