//! Texts asked of several versions, and of an unsaved version.

use refract_authoring::prism_file::PrismFile;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::ResultActor;
use refract_domain::submission::{CallContext, IdempotencyKey, SentFields, Submission};
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use refract_test_support::on_both;
use serde_json::{Value, json};
use uuid::Uuid;

use super::fixture::{DraftFixture, file};

on_both!(
    with crate::drafts::on;
    a_text_is_asked_of_two_versions_and_both_results_are_saved,
    a_version_with_other_fields_refuses_in_the_words_of_a_call,
    a_failure_of_the_model_is_a_result_like_any_other,
    a_draft_explains_why_it_has_no_answers,
);

fn fields(pairs: &[(&str, &str)]) -> SentFields {
    let pairs = pairs.iter();
    SentFields::new(
        pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    )
}

/// Versions with an idempotency key each, of one sending.
fn keyed<const N: usize>(versions: [VersionNumber; N]) -> [(VersionNumber, IdempotencyKey); N] {
    let sending = Uuid::now_v7();
    versions.map(|version| {
        (
            version,
            IdempotencyKey::saved(format!("{sending} {version}")),
        )
    })
}

fn draft(file: &Value) -> PrismVersion {
    let bytes = file.to_string();
    PrismFile::read(bytes.as_bytes(), None).unwrap().version
}

/// The file with another field besides the text.
fn with_subject() -> Value {
    let mut file = file();
    let fields = file["fields"].as_array_mut().unwrap();
    fields.push(json!({ "key": "subject", "label": "Subject" }));
    file
}

async fn a_text_is_asked_of_two_versions_and_both_results_are_saved(it: DraftFixture) {
    let mut file = file();
    file["questions"][1]["text"] = json!("Is the writer angry?");
    let second = it.save_version(&file).await;
    let refract = it.asking();
    let context = CallContext::saved("A customer".to_owned());
    let text = fields(&[("text", "Where is my bicycle?")]);
    let tried = refract
        .prisms()
        .try_on(
            it.actor.clone(),
            &it.prism,
            &text,
            context.as_ref(),
            None,
            &keyed([second, VersionNumber::FIRST]),
        )
        .await;
    let tried: Vec<_> = tried.into_iter().map(Result::unwrap).collect();
    let versions: Vec<_> = tried.iter().map(|result| result.view().version).collect();
    assert_eq!(versions, [second, VersionNumber::FIRST]);
    for result in &tried {
        assert!(result.is_ok());
        assert_eq!(result.submission().context(), Some("A customer"));
        let account = it.actor.account();
        let found = it.refract.results().find(account, result.id()).await;
        assert_eq!(found.unwrap().view().version, result.view().version);
        let actor = it
            .refract
            .results()
            .actor(account, result.id())
            .await
            .unwrap();
        assert_eq!(actor, it.actor.person_id().map(ResultActor::Person));
    }
    assert_eq!(it.count().await, 2);
}

async fn a_version_with_other_fields_refuses_in_the_words_of_a_call(it: DraftFixture) {
    let second = it.save_version(&with_subject()).await;
    let third = VersionNumber::new(3).unwrap();
    let versions = [VersionNumber::FIRST, second, third];
    let refract = it.asking();
    let try_on = async |sent: SentFields| {
        let tried = refract
            .prisms()
            .try_on(
                it.actor.clone(),
                &it.prism,
                &sent,
                None,
                None,
                &keyed(versions),
            )
            .await;
        let words = tried
            .into_iter()
            .map(|tried| tried.map_or_else(|refusal| refusal.to_string(), |_| "saved".to_owned()));
        words.collect::<Vec<_>>()
    };
    assert_eq!(
        try_on(fields(&[("text", "Hello")])).await,
        [
            "saved",
            "Missing fields: subject",
            "Prism version not found"
        ]
    );
    assert_eq!(
        try_on(fields(&[("text", "Hello"), ("subject", "Hi")])).await,
        [
            "Unknown fields: subject",
            "saved",
            "Prism version not found"
        ]
    );
    assert_eq!(it.count().await, 2);
}

async fn a_failure_of_the_model_is_a_result_like_any_other(it: DraftFixture) {
    let second = it.save_version(&file()).await;
    let server = ModelServer::start(ScriptedReply::status(400));
    let refract = it.asking_by(&server.url());
    let text = fields(&[("text", "Hello")]);
    let versions = [VersionNumber::FIRST, second];
    let tried = refract
        .prisms()
        .try_on(
            it.actor.clone(),
            &it.prism,
            &text,
            None,
            None,
            &keyed(versions),
        )
        .await;
    assert!(tried.iter().all(|tried| !tried.as_ref().unwrap().is_ok()));
    assert_eq!(it.count().await, 2);
}

async fn a_draft_explains_why_it_has_no_answers(it: DraftFixture) {
    let server = ModelServer::start(Script::first([]).then(ScriptedReply::status(400)));
    let refract = it.asking_by(&server.url());
    let mut file = file();
    file["context"] = json!("y".repeat(7_900));
    let draft = draft(&file);
    let text = |text: &str| {
        let fields = fields(&[("text", text)]);
        Submission::new(fields, None, draft.fields()).unwrap()
    };
    let texts = [text("Hello"), text(&"x".repeat(99_000))];
    let tried = refract.prisms().try_texts(&draft, &texts).await;
    let words = tried.iter().map(|tried| tried.as_ref().unwrap_err());
    let words: Vec<_> = words.map(ToString::to_string).collect();
    assert!(words[0].contains("400"), "{words:?}");
    assert!(
        words[1].starts_with("Request too large: about 26"),
        "{words:?}"
    );
    assert_eq!(server.requests().len(), 1);
}
