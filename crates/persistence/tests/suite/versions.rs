//! Prism versions: saved in turn, read for good.

use refract_domain::lens::Lens;
use refract_domain::prism::{PrismName, VersionNumber};
use refract_persistence::{NewVersion, Writing};

use crate::fixture::{Fixture, connect, definition, moment};

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
    let name = PrismName::parse("Renamed").unwrap();
    let second = definition(&["angry", "calm"]);
    let new = NewVersion {
        name: &name,
        definition: &second,
        lens: None,
        now: moment(1),
    };
    assert_eq!(
        it.database.save_version(&it.prism, new).await.unwrap(),
        Writing::Saved
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

    // read by another process, without what this one has cached
    for database in [&it.database, &connect(&it.url).await] {
        for (version, expected) in [(1, definition(&["angry"])), (2, second.clone())] {
            let found = database
                .find_definition(it.prism.id, number(version))
                .await
                .unwrap();
            assert_eq!(*found.unwrap(), expected);
        }
    }
}

async fn of_versions_saved_at_once_one_is_saved(it: Fixture) {
    let save = |_| {
        let (database, read) = (it.database.clone(), it.prism.clone());
        tokio::spawn(async move {
            let name = PrismName::parse("Triage").unwrap();
            let definition = definition(&["angry"]);
            let lens = Some(&Lens::Automatic);
            let new = NewVersion {
                name: &name,
                definition: &definition,
                lens,
                now: moment(1),
            };
            database.save_version(&read, new).await.unwrap()
        })
    };
    let savers: Vec<_> = (0..20).map(save).collect();
    let mut saved = 0;
    for saver in savers {
        saved += usize::from(saver.await.unwrap() == Writing::Saved);
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
        definition(&["angry"]),
        definition(&["calm"]),
        definition(&["angry", "calm"]),
    ];
    let mut read = it.prism.clone();
    for definition in &versions[1..] {
        let name = PrismName::parse("Triage").unwrap();
        let new = NewVersion {
            name: &name,
            definition,
            lens: None,
            now: moment(1),
        };
        assert_eq!(
            it.database.save_version(&read, new).await.unwrap(),
            Writing::Saved
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
        .find_definition(it.prism.id, number(2))
        .await
        .unwrap();
    assert!(found.is_none());
    let unknown = refract_domain::ids::PrismId(uuid::Uuid::now_v7());
    assert!(it.database.prism_history(unknown).await.unwrap().is_none());
}
