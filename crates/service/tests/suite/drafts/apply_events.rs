//! The events of files that are applied.

use refract_domain::event::{EventAction, EventDetail};
use refract_domain::prism::VersionNumber;
use refract_service::prisms::ChangeOfPrism;
use refract_test_support::on_both;
use serde_json::json;

use super::applies::{definition, events, lens, of, refused};
use super::fixture::{DraftFixture, file};

on_both!(with crate::drafts::on; what_is_applied_has_its_events_and_what_is_equal_has_none,);

async fn what_is_applied_has_its_events_and_what_is_equal_has_none(it: DraftFixture) {
    let note = EventDetail::note("commit 4f2c").unwrap();
    let actor = it.actor.clone().with_note(note.clone());
    let mut changed = file();
    changed["name"] = json!("First line");
    changed["context"] = json!("We sell bicycles.");
    let columns = json!([{ "name": "mood", "question": "angry", "output": "label" }]);
    let files = [
        definition("triage.prism.json", &changed),
        definition("triage.lens.json", &lens(&columns)),
        definition("another.prism.json", &file()),
        definition("another.lens.json", &lens(&columns)),
    ];
    let before = events(&it).await;
    let apply = of(&files, false);
    let applying = it.refract.prisms().apply(&actor, &apply);
    applying.await.unwrap();
    let mut added = events(&it).await;
    added.truncate(added.len() - before.len());
    added.reverse();
    let text = |detail: &Option<EventDetail>| detail.as_ref().map(ToString::to_string);
    let found: Vec<_> = added
        .iter()
        .map(|event| (event.action, text(&event.from), text(&event.to)))
        .collect();
    let column = "column mood (angry label, no below 0.5, yes from 0.5)";
    let automatic = "column topic (topic top), \
                     column angry (angry label, no below 0.5, yes from 0.5), \
                     column rude (rude label, no below 0.5, yes from 0.5)";
    let lens_set = (
        EventAction::LensSet,
        Some(format!("revision 0, {automatic}")),
        Some(format!("revision 1, {column}")),
    );
    let some = |text: &str| Some(text.to_owned());
    let expected = [
        (EventAction::PrismCreated, None, some("1")),
        lens_set.clone(),
        (EventAction::VersionSaved, some("1"), some("2")),
        (
            EventAction::PrismRenamed,
            some("Triage"),
            some("First line"),
        ),
        lens_set,
    ];
    assert_eq!(found, expected);
    for event in &added {
        assert_eq!(event.stamp.note.as_ref(), Some(&note), "{event:?}");
    }
    let all = events(&it).await;
    let applying = it.refract.prisms().apply(&actor, &apply);
    applying.await.unwrap();
    assert_eq!(events(&it).await, all, "nothing is changed");
    // one file that cannot be applied prevents the others
    changed["context"] = json!("We sell boats.");
    let wrong = [
        definition("triage.prism.json", &changed),
        definition("nobody.lens.json", &lens(&json!([]))),
    ];
    refused(&it, &wrong).await;
    assert_eq!(events(&it).await, all);
    let history = it
        .refract
        .prisms()
        .history(it.actor.account(), &it.prism)
        .await;
    let found: Vec<_> = history
        .unwrap()
        .into_iter()
        .map(|change| (change.what, change.note))
        .collect();
    let version = VersionNumber::FIRST.next().unwrap();
    let expected = [
        (ChangeOfPrism::LensSet, Some(note.clone())),
        (ChangeOfPrism::Renamed, Some(note.clone())),
        (ChangeOfPrism::Version(version), Some(note)),
        (ChangeOfPrism::Version(VersionNumber::FIRST), None),
    ];
    assert_eq!(found, expected, "newest first");
}
