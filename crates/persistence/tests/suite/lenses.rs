//! Lenses and their revisions.

use refract_domain::lens::{Column, Lens};
use refract_domain::prism::DisplayName;
use refract_persistence::{LensRevision, LensSave, NewVersion, Prism, WriteOutcome};
use refract_test_support::on_both;

use crate::fixture::{Fixture, lens_details, version};

on_both!(
    a_prism_begins_with_the_automatic_lens,
    a_saved_lens_is_a_new_revision,
    a_lens_that_was_read_before_another_change_is_stale,
    the_lens_goes_with_the_version_that_drops_its_columns,
    the_history_has_every_lens_with_who_when_and_why,
);

fn columns(json: &str) -> Vec<Column> {
    serde_json::from_str(json).unwrap()
}

fn is_angry() -> Vec<Column> {
    columns(
        r#"[{"name":"is_angry","question":"angry","type":"yes_no","output":"label","no_below":0.4,"yes_from":0.6},
            {"name":"p","question":"angry","type":"yes_no","output":"probability"}]"#,
    )
}

async fn current(it: &Fixture) -> Prism {
    it.database
        .find_prism_by_id(it.prism.id)
        .await
        .unwrap()
        .unwrap()
}

async fn lens(it: &Fixture, revision: i32) -> Option<Lens> {
    let found = it.database.find_lens(it.prism.id, revision).await.unwrap();
    found.map(|lens| (*lens).clone())
}

async fn a_prism_begins_with_the_automatic_lens(it: Fixture) {
    assert_eq!(
        lens(&it, it.prism.lens_revision).await,
        Some(Lens::Automatic)
    );
    assert_eq!(lens(&it, it.prism.lens_revision + 1).await, None);
}

async fn a_saved_lens_is_a_new_revision(it: Fixture) {
    let custom = is_angry();
    let saved = it
        .database
        .save_lens(
            &it.prism,
            &Lens::Custom(custom.clone()),
            lens_details(),
            it.stamp(1),
        )
        .await
        .unwrap();
    assert_eq!(saved, WriteOutcome::Saved);
    let second = current(&it).await;
    assert_eq!(second.lens_revision, it.prism.lens_revision + 1);
    assert_eq!(
        lens(&it, it.prism.lens_revision).await,
        None,
        "the old one was never cached"
    );
    assert_eq!(
        lens(&it, second.lens_revision).await,
        Some(Lens::Custom(custom.clone()))
    );

    assert_eq!(
        it.database
            .save_lens(&second, &Lens::Automatic, lens_details(), it.stamp(2))
            .await
            .unwrap(),
        WriteOutcome::Saved
    );
    let third = current(&it).await;
    assert_eq!(lens(&it, third.lens_revision).await, Some(Lens::Automatic));
    let cached = lens(&it, second.lens_revision).await;
    assert_eq!(
        cached,
        Some(Lens::Custom(custom)),
        "a revision never changes"
    );
}

async fn a_lens_that_was_read_before_another_change_is_stale(it: Fixture) {
    let custom = is_angry();
    it.database
        .save_lens(
            &it.prism,
            &Lens::Custom(custom.clone()),
            lens_details(),
            it.stamp(1),
        )
        .await
        .unwrap();
    assert_eq!(
        it.database
            .save_lens(&it.prism, &Lens::Automatic, lens_details(), it.stamp(2))
            .await
            .unwrap(),
        WriteOutcome::Stale
    );

    let name = DisplayName::parse("Triage").unwrap();
    let read = current(&it).await;
    let version = version(&["angry"]);
    let new = NewVersion {
        name: &name,
        version: &version,
        lens: None,
        stamp: it.stamp(1),
    };
    it.database.save_version(&read, &new).await.unwrap();
    assert_eq!(
        it.database
            .save_lens(&read, &Lens::Automatic, lens_details(), it.stamp(2))
            .await
            .unwrap(),
        WriteOutcome::Stale
    );

    let now = current(&it).await;
    assert_eq!(
        now.lens_revision, read.lens_revision,
        "a version leaves the lens alone"
    );
    assert_eq!(
        lens(&it, now.lens_revision).await,
        Some(Lens::Custom(custom))
    );
}

async fn the_lens_goes_with_the_version_that_drops_its_columns(it: Fixture) {
    it.database
        .save_lens(
            &it.prism,
            &Lens::Custom(is_angry()),
            lens_details(),
            it.stamp(1),
        )
        .await
        .unwrap();
    let read = current(&it).await;
    let name = DisplayName::parse("Triage").unwrap();
    let version = version(&["calm"]);
    let lens_now = Some(&Lens::Automatic);
    let new = NewVersion {
        name: &name,
        version: &version,
        lens: lens_now.map(|lens| (lens, lens_details())),
        stamp: it.stamp(1),
    };
    assert_eq!(
        it.database.save_version(&read, &new).await.unwrap(),
        WriteOutcome::Saved
    );
    let now = current(&it).await;
    assert_eq!(now.lens_revision, read.lens_revision + 1);
    assert_eq!(lens(&it, now.lens_revision).await, Some(Lens::Automatic));
}

async fn the_history_has_every_lens_with_who_when_and_why(it: Fixture) {
    let list = || it.database.list_lens_revisions(it.prism.id, 10);
    assert_eq!(list().await.unwrap(), []);
    let custom = Lens::Custom(is_angry());
    let stamp = it.stamp(1).noted("too many");
    it.database
        .save_lens(&it.prism, &custom, lens_details(), stamp.clone())
        .await
        .unwrap();
    let stale = it
        .database
        .save_lens(&it.prism, &Lens::Automatic, lens_details(), it.stamp(2));
    assert_eq!(stale.await.unwrap(), WriteOutcome::Stale);
    let first = LensRevision {
        revision: it.prism.lens_revision,
        lens: Lens::Automatic,
        saved: None,
    };
    let second = LensRevision {
        revision: first.revision + 1,
        lens: custom,
        saved: Some(LensSave {
            made_by: stamp.actor.person(),
            made_at: stamp.at,
            note: stamp.note,
        }),
    };
    assert_eq!(list().await.unwrap(), [second.clone(), first]);

    // a version that drops the columns
    let read = current(&it).await;
    let name = DisplayName::parse("Triage").unwrap();
    let new = NewVersion {
        name: &name,
        version: &version(&["calm"]),
        lens: Some((&Lens::Automatic, lens_details())),
        stamp: it.stamp(3),
    };
    it.database.save_version(&read, &new).await.unwrap();
    let newest = list().await.unwrap();
    let revisions: Vec<_> = newest.iter().map(|it| it.revision).collect();
    assert_eq!(revisions, [2, 1, 0]);
    assert_eq!(newest[0].lens, Lens::Automatic);
    let found = it.database.find_lens_revision(it.prism.id, 1).await;
    assert_eq!(found.unwrap(), Some(second));
    let missing = it.database.find_lens_revision(it.prism.id, 3).await;
    assert_eq!(missing.unwrap(), None);
}
