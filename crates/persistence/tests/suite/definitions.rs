//! Prisms and lenses that are saved together.

use refract_domain::event::{EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::PrismId;
use refract_domain::lens::Lens;
use refract_domain::prism::{DisplayName, PrismSelector, Slug, VersionNumber};
use refract_persistence::{ChangeKind, DefinedPrism, Prism, PrismDefinition, WriteOutcome};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::events::events;
use crate::fixture::{Fixture, lens_details, moment, version};

on_both!(
    definitions_are_saved_together,
    one_that_cannot_be_saved_leaves_all_unsaved,
    each_event_of_a_definition_has_its_reason,
);

fn name(name: &str) -> DisplayName {
    DisplayName::parse(name).unwrap()
}

fn lens() -> Lens {
    let columns = r#"[{"name":"p","question":"angry","type":"yes_no","output":"probability"}]"#;
    Lens::Custom(serde_json::from_str(columns).unwrap())
}

async fn find(it: &Fixture, slug: &str) -> Option<Prism> {
    let selector = PrismSelector::Slug(slug.to_owned());
    it.database.find_prism(it.account, &selector).await.unwrap()
}

async fn save(it: &Fixture, definitions: &[PrismDefinition<'_>]) -> WriteOutcome {
    it.database.save_definitions(definitions).await.unwrap()
}

async fn definitions_are_saved_together(it: Fixture) {
    let (version, lens, renamed) = (version(&["angry"]), lens(), name("Renamed"));
    let (slug, new_name) = (Slug::parse("a-new-one").unwrap(), name("New"));
    let definitions = [
        PrismDefinition {
            prism: DefinedPrism::New {
                id: PrismId::new(Uuid::now_v7()),
                slug: &slug,
            },
            name: &new_name,
            version: Some(&version),
            lens: Some((&lens, lens_details())),
            stamp: it.stamp(5),
        },
        PrismDefinition {
            prism: DefinedPrism::Read(&it.prism),
            name: &renamed,
            version: Some(&version),
            lens: None,
            stamp: it.stamp(5),
        },
    ];
    assert_eq!(save(&it, &definitions).await, WriteOutcome::Saved);
    let made = find(&it, "a-new-one").await.unwrap();
    assert_eq!((made.name.as_str(), made.lens_revision), ("New", 1));
    assert_eq!(
        (made.latest_version, made.created_at),
        (VersionNumber::FIRST, moment(5))
    );
    let found = it.database.find_lens(made.id, 1).await.unwrap();
    assert_eq!(found.as_deref(), Some(&lens));
    let history = it.database.prism_history(made.id).await.unwrap().unwrap();
    assert_eq!(history.versions.as_slice(), std::slice::from_ref(&version));
    let noted = it.database.list_prism_changes(made.id).await.unwrap();
    assert_eq!(noted[0].kind, ChangeKind::LensSet);
    let changed = find(&it, it.prism.slug.as_str()).await.unwrap();
    assert_eq!(changed.name, "Renamed");
    assert_eq!(
        changed.latest_version.get(),
        it.prism.latest_version.get() + 1
    );
    assert_eq!(changed.lens_revision, it.prism.lens_revision);
    // a lens and a name alone make no version
    let definition = PrismDefinition {
        prism: DefinedPrism::Read(&changed),
        name: &new_name,
        version: None,
        lens: Some((&lens, lens_details())),
        stamp: it.stamp(6),
    };
    assert_eq!(save(&it, &[definition]).await, WriteOutcome::Saved);
    let again = find(&it, it.prism.slug.as_str()).await.unwrap();
    assert_eq!(again.latest_version, changed.latest_version);
    assert_eq!(again.lens_revision, changed.lens_revision + 1);
    assert_eq!(again.name, "New");
}

async fn one_that_cannot_be_saved_leaves_all_unsaved(it: Fixture) {
    let (version, renamed) = (version(&["angry"]), name("Renamed"));
    let free = Slug::parse("free").unwrap();
    let new = |slug| PrismDefinition {
        prism: DefinedPrism::New {
            id: PrismId::new(Uuid::now_v7()),
            slug,
        },
        name: &renamed,
        version: Some(&version),
        lens: None,
        stamp: it.stamp(5),
    };
    let over = |read| PrismDefinition {
        prism: DefinedPrism::Read(read),
        name: &renamed,
        version: Some(&version),
        lens: None,
        stamp: it.stamp(5),
    };
    let before = events(&it).await;
    let taken = [over(&it.prism), new(&free), new(&it.prism.slug)];
    assert_eq!(save(&it, &taken).await, WriteOutcome::Stale);
    let mut stale = it.prism.clone();
    stale.lens_revision += 1;
    assert_eq!(
        save(&it, &[new(&free), over(&stale)]).await,
        WriteOutcome::Stale
    );
    let mut stale = it.prism.clone();
    stale.latest_version = stale.latest_version.next().unwrap();
    assert_eq!(
        save(&it, &[new(&free), over(&stale)]).await,
        WriteOutcome::Stale
    );
    // renamed by somebody else
    let mut stale = it.prism.clone();
    "Before".clone_into(&mut stale.name);
    assert_eq!(
        save(&it, &[new(&free), over(&stale)]).await,
        WriteOutcome::Stale
    );
    assert_eq!(find(&it, "free").await, None);
    let unchanged = find(&it, it.prism.slug.as_str()).await;
    assert_eq!(unchanged.as_ref(), Some(&it.prism));
    let changes = it.database.list_prism_changes(it.prism.id).await.unwrap();
    assert!(changes.is_empty());
    assert_eq!(events(&it).await, before, "what is not saved has no event");
}

async fn each_event_of_a_definition_has_its_reason(it: Fixture) {
    let (version, lens, renamed) = (version(&["angry"]), lens(), name("Renamed"));
    let note = EventDetail::note("as the board wants it").unwrap();
    let definition = PrismDefinition {
        prism: DefinedPrism::Read(&it.prism),
        name: &renamed,
        version: Some(&version),
        lens: Some((&lens, lens_details())),
        stamp: EventStamp {
            note: Some(note.clone()),
            ..it.stamp(5)
        },
    };
    let before = events(&it).await.len();
    assert_eq!(save(&it, &[definition]).await, WriteOutcome::Saved);
    let mut added = events(&it).await;
    added.truncate(added.len() - before);
    let actions: Vec<_> = added.iter().map(|event| event.action).collect();
    let expected = [
        EventAction::LensSet,
        EventAction::PrismRenamed,
        EventAction::VersionSaved,
    ];
    assert_eq!(actions, expected, "newest first");
    for event in added {
        assert_eq!(event.stamp.note.as_ref(), Some(&note));
        assert_eq!(event.stamp.at, moment(5));
        assert_eq!(event.target, EventTarget::Prism(it.prism.id));
    }
    let changes = it.database.list_prism_changes(it.prism.id).await.unwrap();
    let kinds: Vec<_> = changes.iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [ChangeKind::Renamed, ChangeKind::LensSet]);
}
