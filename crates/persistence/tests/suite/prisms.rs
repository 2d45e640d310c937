//! Prisms: slugs, names, archives.

use refract_domain::ids::PrismId;
use refract_domain::prism::{DisplayName, PrismSelector, VersionNumber};
use refract_persistence::NewPrism;
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, account, prism, slugs, version};

on_both!(
    a_prism_begins_with_version_1,
    a_taken_slug_gives_the_next,
    prisms_of_one_name_made_at_once_get_a_slug_each,
    a_prism_without_a_free_slug_is_not_made,
    a_rename_keeps_the_slug,
    prisms_are_listed_in_the_order_of_their_making,
);

async fn a_prism_begins_with_version_1(it: Fixture) {
    assert_eq!(it.prism.latest_version, VersionNumber::FIRST);
    assert_eq!(it.prism.slug.as_str(), "triage");
    for selector in [it.selector(), PrismSelector::Slug("triage".to_owned())] {
        let found = it.database.find_prism(it.account, &selector).await.unwrap();
        assert_eq!(found.as_ref(), Some(&it.prism));
    }
    let found = it
        .database
        .find_version(it.prism.id, VersionNumber::FIRST)
        .await
        .unwrap();
    assert_eq!(*found.unwrap(), version(&["angry"]));
}

async fn a_taken_slug_gives_the_next(it: Fixture) {
    let second = prism(&it.database, it.account, "Triage").await;
    let third = prism(&it.database, it.account, "triage!").await;
    assert_eq!(
        [second.slug.as_str(), third.slug.as_str()],
        ["triage-2", "triage-3"]
    );
    let found = it
        .database
        .find_prism(it.account, &PrismSelector::Id(third.id))
        .await
        .unwrap();
    assert_eq!(found, Some(third));
}

async fn prisms_of_one_name_made_at_once_get_a_slug_each(it: Fixture) {
    let make = |_| {
        let (database, account) = (it.database.clone(), it.account);
        tokio::spawn(async move { prism(&database, account, "Rush").await.slug.to_string() })
    };
    let creations: Vec<_> = (0..10).map(make).collect();
    let mut slugs = Vec::new();
    for creation in creations {
        slugs.push(creation.await.unwrap());
    }
    slugs.sort_unstable();
    let mut expected: Vec<_> = (2..=10).map(|number| format!("rush-{number}")).collect();
    expected.push("rush".to_owned());
    expected.sort_unstable();
    assert_eq!(slugs, expected);
}

async fn a_prism_without_a_free_slug_is_not_made(it: Fixture) {
    let name = DisplayName::parse("Triage").unwrap();
    let new = NewPrism {
        id: PrismId::new(Uuid::now_v7()),
        name: &name,
        version: &version(&["angry"]),
        stamp: it.stamp(0),
    };
    let id = new.id;
    it.database
        .create_prism(&new, &mut slugs("Triage").take(1))
        .await
        .unwrap_err();
    assert_eq!(it.database.find_prism_by_id(id).await.unwrap(), None);
    let found = it
        .database
        .find_version(id, VersionNumber::FIRST)
        .await
        .unwrap();
    assert!(found.is_none());
}

async fn a_rename_keeps_the_slug(it: Fixture) {
    let name = DisplayName::parse("Sorting “office” 📬").unwrap();
    let renaming = it.database.rename_prism(it.prism.id, &name, it.stamp(1));
    renaming.await.unwrap();
    let found = it
        .database
        .find_prism_by_id(it.prism.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.name, name.as_str());
    assert_eq!(found.slug, it.prism.slug);
}

async fn prisms_are_listed_in_the_order_of_their_making(it: Fixture) {
    let second = prism(&it.database, it.account, "A").await;
    let elsewhere = account(&it.database, "elsewhere").await;
    prism(&it.database, elsewhere, "B").await;
    let listed = it.database.list_prisms(it.account).await.unwrap();
    assert_eq!(listed, [it.prism.clone(), second]);
}
