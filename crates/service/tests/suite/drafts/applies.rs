//! Applied files: what they create, save and leave, all or none.

use refract_authoring::definition_name::DefinitionName;
use refract_domain::event::Event;
use refract_domain::lens::Lens;
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_identity::events::{EventFilter, EventRange};
use refract_service::prisms::{
    AppliedDefinition, Apply, ApplyError, ApplyOutcome, ChangeOfPrism, DefinitionFile,
};
use refract_test_support::on_both;
use serde_json::{Value, json};

use super::fixture::{DraftFixture, file};

on_both!(
    with crate::drafts::on;
    what_differs_is_saved_and_what_is_equal_is_not,
    a_lens_and_the_version_that_it_needs_go_together,
    every_error_of_every_file_is_listed_and_nothing_is_saved,
    a_dry_run_reports_what_would_be_and_saves_nothing,
    applied_at_once_each_definition_is_saved_once,
);

pub(crate) fn definition(name: &str, content: &Value) -> DefinitionFile {
    DefinitionFile {
        file: format!("prisms/{name}"),
        name: DefinitionName::parse(name).unwrap(),
        content: content.to_string().into_bytes(),
    }
}

pub(crate) fn lens(columns: &Value) -> Value {
    json!({ "columns": columns })
}

pub(crate) fn of(files: &[DefinitionFile], is_dry: bool) -> Apply {
    Apply {
        files: files.to_vec(),
        is_dry,
    }
}

/// Each file with its outcome and version.
fn outcomes(applied: &[AppliedDefinition]) -> Vec<(String, &'static str, i32)> {
    let outcome = |applied: &AppliedDefinition| {
        let (name, version) = (applied.name.to_string(), applied.version.get());
        (name, applied.outcome.name(), version)
    };
    applied.iter().map(outcome).collect()
}

async fn applied(it: &DraftFixture, files: &[DefinitionFile]) -> Vec<(String, &'static str, i32)> {
    let applied = it
        .refract
        .prisms()
        .apply(&it.actor, &of(files, false))
        .await;
    outcomes(&applied.unwrap())
}

pub(crate) async fn refused(it: &DraftFixture, files: &[DefinitionFile]) -> Vec<String> {
    let refused = it
        .refract
        .prisms()
        .apply(&it.actor, &of(files, false))
        .await;
    match refused.unwrap_err() {
        ApplyError::InvalidFiles(errors) => {
            let errors = errors.into_iter();
            errors
                .map(|error| format!("{}: {}", error.file, error.text))
                .collect()
        }
        ApplyError::Prism(other) => panic!("{other}"),
    }
}

async fn changes(it: &DraftFixture) -> Vec<ChangeOfPrism> {
    let history = it
        .refract
        .prisms()
        .history(it.actor.account(), &it.prism)
        .await;
    let mut changes: Vec<_> = history
        .unwrap()
        .into_iter()
        .map(|change| change.what)
        .collect();
    changes.reverse();
    changes
}

/// The events of the account, newest first.
pub(crate) async fn events(it: &DraftFixture) -> Vec<Event> {
    let (filter, range) = (EventFilter::default(), EventRange::Newest);
    let finding = it
        .refract
        .events()
        .find(it.actor.account(), filter, range, 100);
    let found = finding.await.unwrap();
    found
        .events
        .into_iter()
        .map(|listed| listed.event)
        .collect()
}

async fn what_differs_is_saved_and_what_is_equal_is_not(it: DraftFixture) {
    let columns = json!([{ "question": "angry", "output": "label", "no_below": 0.4 }]);
    let row = |name: &str, outcome, version| (name.to_owned(), outcome, version);
    let files = [
        definition("triage.lens.json", &lens(&columns)),
        definition("triage.prism.json", &file()),
        definition("another.prism.json", &file()),
        definition("another.lens.json", &lens(&columns)),
    ];
    assert_eq!(
        applied(&it, &files).await,
        [
            row("triage.lens.json", "created", 1),
            row("triage.prism.json", "unchanged", 1),
            row("another.prism.json", "created", 1),
            row("another.lens.json", "created", 1),
        ]
    );
    let again = applied(&it, &files).await;
    assert!(
        again.iter().all(|(_, outcome, _)| *outcome == "unchanged"),
        "{again:?}"
    );
    let made = PrismSelector::Slug("another".to_owned());
    let made = it
        .refract
        .prisms()
        .find(it.actor.account(), &made)
        .await
        .unwrap();
    assert_eq!((made.name.as_str(), made.lens_revision), ("Triage", 1));
    // keys that a file leaves out are those of the earlier labels
    let mut without_keys = file();
    for option in without_keys["questions"][0]["options"]
        .as_array_mut()
        .unwrap()
    {
        option.as_object_mut().unwrap().remove("key");
    }
    without_keys["$comment"] = json!("why");
    let unchanged = applied(&it, &[definition("triage.prism.json", &without_keys)]).await;
    assert_eq!(unchanged, [row("triage.prism.json", "unchanged", 1)]);
    // a new name is not a version: the model is not asked again
    let mut renamed = file();
    renamed["name"] = json!("First line");
    let saved = applied(&it, &[definition("triage.prism.json", &renamed)]).await;
    assert_eq!(saved, [row("triage.prism.json", "saved", 1)]);
    assert_eq!(it.lens().await.prism.name, "First line");
    let mut worded = renamed.clone();
    worded["questions"][1]["text"] = json!("Is the writer angry?");
    let columns = json!([{ "question": "rude", "output": "probability" }]);
    let files = [
        definition("triage.prism.json", &worded),
        definition("triage.lens.json", &lens(&columns)),
    ];
    let saved = [
        row("triage.prism.json", "saved", 2),
        row("triage.lens.json", "saved", 2),
    ];
    assert_eq!(applied(&it, &files).await, saved);
    // a version that removes a question drops its columns, as a save does
    worded["questions"].as_array_mut().unwrap().pop();
    let saved = applied(&it, &[definition("triage.prism.json", &worded)]).await;
    assert_eq!(saved, [row("triage.prism.json", "saved", 3)]);
    assert_eq!(*it.lens().await.lens, Lens::Automatic);
    let numbers = it.lens().await.prism.latest_version;
    let version = |number| ChangeOfPrism::Version(VersionNumber::new(number).unwrap());
    assert_eq!(numbers.get(), 3);
    assert_eq!(
        changes(&it).await,
        [
            version(1),
            ChangeOfPrism::LensSet,
            ChangeOfPrism::Renamed,
            version(2),
            ChangeOfPrism::LensSet,
            version(3),
            ChangeOfPrism::LensReset,
        ]
    );
}

async fn a_lens_and_the_version_that_it_needs_go_together(it: DraftFixture) {
    it.set_lens(&json!([{ "name": "mood", "question": "angry", "output": "label" }]))
        .await;
    let mut next = file();
    next["fields"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "key": "mood", "label": "Mood" }));
    next["questions"][2] = json!({ "key": "glad", "type": "yes_no", "text": "Glad?" });
    let prism = definition("triage.prism.json", &next);
    // the saved lens has a column with the new field's name
    let clash = "prisms/triage.prism.json: fields.1.key: is the name of the lens column 'mood'";
    assert_eq!(refused(&it, std::slice::from_ref(&prism)).await, [clash]);
    let columns = json!([
        { "name": "anger", "question": "angry", "output": "label" },
        { "question": "glad", "output": "probability" },
    ]);
    let columns = definition("triage.lens.json", &lens(&columns));
    let alone = refused(&it, std::slice::from_ref(&columns)).await;
    assert_eq!(
        alone,
        [
            "prisms/triage.lens.json: columns.1.question: the prism's latest version has no such question, but topic, angry, rude"
        ]
    );
    let both = applied(&it, &[columns, prism]).await;
    let outcomes: Vec<_> = both
        .iter()
        .map(|(_, outcome, version)| (*outcome, *version))
        .collect();
    assert_eq!(outcomes, [("saved", 2), ("saved", 2)]);
    let now = it.lens().await;
    let names: Vec<_> = now
        .columns()
        .lens
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(names, ["anger", "glad_probability"]);
}

async fn every_error_of_every_file_is_listed_and_nothing_is_saved(it: DraftFixture) {
    let mut good = file();
    good["context"] = json!("New.");
    let mut wrong = file();
    wrong["questions"][0]["options"][1]["key"] = json!("Not a key");
    wrong["extra"] = json!(1);
    let twice = definition("triage.prism.json", &good);
    let files = [
        twice.clone(),
        definition("wrong.prism.json", &wrong),
        definition("nobody.lens.json", &lens(&json!([]))),
        definition(
            "triage.lens.json",
            &lens(&json!([{ "question": "x", "output": "top" }])),
        ),
    ];
    let mut errors = refused(&it, &files).await;
    errors.sort();
    assert_eq!(errors.len(), 4, "{errors:#?}");
    for (error, beginning) in errors.iter().zip([
        "prisms/nobody.lens.json: there is no prism nobody: apply its nobody.prism.json too",
        "prisms/triage.lens.json: columns.0.question: ",
        "prisms/wrong.prism.json: file: Unrecognized key(s) in object: 'extra'",
        "prisms/wrong.prism.json: questions.0.options.1.key: ",
    ]) {
        assert!(error.starts_with(beginning), "{error}");
    }
    let other = DefinitionFile {
        file: "other/triage.prism.json".to_owned(),
        ..twice.clone()
    };
    let errors = refused(&it, &[twice, other]).await;
    let words =
        "other/triage.prism.json: prisms/triage.prism.json defines it too: give one of the two";
    assert_eq!(errors, [words]);
    assert_eq!(changes(&it).await.len(), 1);
    let prisms = it.database.list_prisms(it.actor.account()).await.unwrap();
    assert_eq!(prisms.len(), 1);
}

async fn a_dry_run_reports_what_would_be_and_saves_nothing(it: DraftFixture) {
    let mut changed = file();
    changed["context"] = json!("We sell bicycles.");
    let files = [
        definition("new.prism.json", &file()),
        definition("triage.prism.json", &changed),
    ];
    let before = events(&it).await;
    let would = it
        .refract
        .prisms()
        .apply(&it.actor, &of(&files, true))
        .await
        .unwrap();
    let would_be: Vec<_> = would
        .iter()
        .map(|one| (one.outcome, one.version.get()))
        .collect();
    assert_eq!(
        would_be,
        [(ApplyOutcome::Created, 1), (ApplyOutcome::Saved, 2)]
    );
    let paths: Vec<_> = would[1]
        .differences
        .iter()
        .map(|one| one.path.as_str())
        .collect();
    assert_eq!(paths, ["context"]);
    assert_eq!(changes(&it).await.len(), 1);
    assert_eq!(events(&it).await, before, "a dry run has no event");
    let done = it
        .refract
        .prisms()
        .apply(&it.actor, &of(&files, false))
        .await
        .unwrap();
    assert_eq!(outcomes(&done), outcomes(&would));
}

async fn applied_at_once_each_definition_is_saved_once(it: DraftFixture) {
    let mut changed = file();
    changed["context"] = json!("We sell bicycles.");
    let columns = json!([{ "question": "angry", "output": "label", "no_below": 0.4 }]);
    let mut files = vec![
        definition("triage.prism.json", &changed),
        definition("triage.lens.json", &lens(&columns)),
    ];
    for number in 1..=4 {
        files.push(definition(&format!("made-{number}.prism.json"), &file()));
    }
    let before = events(&it).await.len();
    let mut applying = tokio::task::JoinSet::new();
    for number in 0..8 {
        // each of them gives its files in another order
        files.rotate_left(number % 3);
        let (refract, actor, apply) = (it.refract.clone(), it.actor.clone(), of(&files, false));
        applying.spawn(async move {
            let applied = refract.prisms().apply(&actor, &apply).await;
            outcomes(&applied.unwrap())
        });
    }
    let mut saved = Vec::new();
    for applied in applying.join_all().await {
        assert_eq!(applied.len(), 6);
        saved.extend(
            applied
                .into_iter()
                .filter(|(_, outcome, _)| *outcome != "unchanged"),
        );
    }
    assert_eq!(saved.len(), 6, "{saved:?}");
    let added = events(&it).await.len() - before;
    assert_eq!(added, 6, "one event for what one of them saved");
    let [first, lens, second] = changes(&it).await.try_into().unwrap();
    let mut later = [format!("{lens:?}"), format!("{second:?}")];
    later.sort();
    assert_eq!(format!("{first:?}"), "Version(VersionNumber(1))");
    assert_eq!(later, ["LensSet", "Version(VersionNumber(2))"]);
    let prisms = it.database.list_prisms(it.actor.account()).await.unwrap();
    assert_eq!(prisms.len(), 5);
    assert!(
        prisms
            .iter()
            .skip(1)
            .all(|prism| prism.latest_version.get() == 1)
    );
}
