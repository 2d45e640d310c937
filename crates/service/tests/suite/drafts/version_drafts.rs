//! Unsaved versions, and the changes of saved ones.

use refract_authoring::version_difference::Severity;
use refract_domain::submission::budget;
use refract_service::prisms::VersionDraft;
use refract_test_support::on_both;
use serde_json::{Value, json};

use super::fixture::{DraftFixture, file};

on_both!(
    with crate::drafts::on;
    a_draft_is_read_by_the_rules_of_saving_and_shows_what_it_changes,
    a_wrong_draft_is_refused_in_the_words_of_saving,
    each_version_shows_what_it_changed,
);

async fn read(it: &DraftFixture, file: &Value) -> Result<VersionDraft, String> {
    let account = it.actor.account();
    let bytes = file.to_string();
    let draft = it
        .refract
        .prisms()
        .draft(account, &it.prism, bytes.as_bytes())
        .await;
    draft.map_err(|refusal| refusal.to_string())
}

async fn a_draft_is_read_by_the_rules_of_saving_and_shows_what_it_changes(it: DraftFixture) {
    it.set_lens(&json!([{ "question": "angry", "output": "label" },
        { "question": "rude", "output": "label" }]))
        .await;
    let mut changed = file();
    changed["questions"].as_array_mut().unwrap().remove(2);
    changed["context"] = json!("We sell bicycles.");
    let draft = read(&it, &changed).await.unwrap();
    assert_eq!(draft.prism.latest_version.get(), 1);
    assert_eq!(draft.latest().questions().len(), 3);
    let found: Vec<_> = draft
        .differences()
        .into_iter()
        .map(|found| (found.severity, found.path))
        .collect();
    let expected = [
        (Severity::ForAnswers, "context"),
        (Severity::ForCallers, "questions.rude"),
        (Severity::ForCallers, "lens.rude"),
    ];
    assert_eq!(
        found,
        expected.map(|(severity, path)| (severity, path.to_owned()))
    );
    assert_eq!(draft.size(), budget::size_of_version(&draft.file.version));
    assert!(read(&it, &file()).await.unwrap().differences().is_empty());
    assert_eq!(it.lens().await.prism.latest_version.get(), 1);
}

async fn a_wrong_draft_is_refused_in_the_words_of_saving(it: DraftFixture) {
    let mut wrong = file();
    wrong["questions"][1]["type"] = json!("scale");
    wrong["questions"][1]["levels"] = json!([{ "label": "Low" }, { "label": "High" }]);
    let refused = read(&it, &wrong).await.err().unwrap();
    let bytes = wrong.to_string();
    let saving = it
        .refract
        .prisms()
        .save_version(&it.actor, &it.prism, bytes.as_bytes(), None);
    assert_eq!(refused, saving.await.unwrap_err().to_string());
    assert!(
        refused.starts_with("Invalid request: questions.1.type: "),
        "{refused}"
    );
}

async fn each_version_shows_what_it_changed(it: DraftFixture) {
    let mut second = file();
    second["questions"][1]["text"] = json!("Is the writer angry?");
    it.save_version(&second).await;
    it.save_version(&second).await;
    let mut fourth = second.clone();
    fourth["fields"][0]["label"] = json!("Text");
    it.save_version(&fourth).await;
    let account = it.actor.account();
    let overview = it.refract.prisms().overview(account, &it.prism).await;
    let compared = overview.unwrap().compared.into_iter();
    let found: Vec<_> = compared
        .map(|(number, differences)| {
            let paths = differences.into_iter().map(|found| found.path);
            (number.get(), paths.collect::<Vec<_>>())
        })
        .collect();
    let expected = [
        (4, vec!["fields.text.label".to_owned()]),
        (3, vec![]),
        (2, vec!["questions.angry.text".to_owned()]),
        (1, vec![]),
    ];
    assert_eq!(found, expected);
}
