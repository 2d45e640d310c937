//! Texts asked of several versions, and of an unsaved version.

use refract_authoring::prism_file::PrismFile;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::actor::ResultActor;
use refract_domain::submission::{CallContext, SentFields};
use refract_service::prisms::TRIAL_TEXTS;
use refract_service::results::ReadableResult;
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use refract_test_support::on_both;
use serde_json::{Value, json};

use super::fixture::{DraftFixture, answers, failed, file};

on_both!(
    with crate::drafts::on;
    a_text_is_asked_of_two_versions_and_both_results_are_saved,
    a_version_with_other_fields_refuses_in_the_words_of_a_call,
    a_failure_of_the_model_is_a_result_like_any_other,
    a_draft_is_tried_on_stored_texts_and_nothing_is_saved,
    a_text_that_lacks_a_field_of_the_draft_is_left_out,
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

async fn saved(it: &DraftFixture, texts: usize) -> Vec<ReadableResult> {
    let latest = it.lens().await.latest;
    let mut saved = Vec::new();
    for number in 0..texts {
        let text = format!("Text {number}");
        let status = answers(&latest, 100_000);
        saved.push(it.save(VersionNumber::FIRST, &text, status).await);
    }
    saved
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
            &[second, VersionNumber::FIRST],
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
            .try_on(it.actor.clone(), &it.prism, &sent, None, None, &versions)
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
        .try_on(it.actor.clone(), &it.prism, &text, None, None, &versions)
        .await;
    assert!(tried.iter().all(|tried| !tried.as_ref().unwrap().is_ok()));
    assert_eq!(it.count().await, 2);
}

async fn a_draft_is_tried_on_stored_texts_and_nothing_is_saved(it: DraftFixture) {
    let saved = saved(&it, TRIAL_TEXTS + 2).await;
    let server = ModelServer::start(ScriptedReply::answers());
    let refract = it.asking_by(&server.url());
    let mut file = file();
    file["questions"][1]["text"] = json!("Is the writer angry?");
    let draft = draft(&file);
    let cost = refract.prisms().draft_trial_cost(&draft, &saved);
    let tried = refract.prisms().try_draft(&draft, &saved).await;
    let ids: Vec<_> = tried.iter().map(|pair| pair.stored.id()).collect();
    let first: Vec<_> = saved
        .iter()
        .map(ReadableResult::id)
        .take(TRIAL_TEXTS)
        .collect();
    assert_eq!(ids, first);
    for pair in &tried {
        let keys = |answers: &refract_domain::answer::Answers| {
            let keys = answers.as_slice().iter();
            keys.map(|(key, _)| key.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        let stored = pair.stored.view();
        let new = pair.answers.as_ref().unwrap();
        assert_eq!(keys(stored.status.answers().unwrap()), keys(new));
    }
    let requests = server.requests();
    assert_eq!(requests.len(), TRIAL_TEXTS);
    assert_eq!((cost.texts, cost.requests), (TRIAL_TEXTS, requests.len()));
    assert!(
        requests
            .iter()
            .all(|request| request.text().contains("Is the writer angry?"))
    );
    assert_eq!(it.count().await, u64::try_from(saved.len()).unwrap());
}

async fn a_text_that_lacks_a_field_of_the_draft_is_left_out(it: DraftFixture) {
    let latest = it.lens().await.latest;
    let short = it.save(VersionNumber::FIRST, "Hello", failed()).await;
    let second = it.save_version(&with_subject()).await;
    let text = fields(&[("text", "Hello"), ("subject", "Hi")]);
    let refract = it.asking();
    let tried = refract
        .prisms()
        .try_on(it.actor.clone(), &it.prism, &text, None, None, &[second])
        .await;
    let long = tried.into_iter().next().unwrap().unwrap();
    let both = [short, long];
    let ids = |tried: Vec<refract_service::prisms::TrialPair>| {
        let ids = tried.iter().map(|pair| pair.stored.id());
        ids.collect::<Vec<_>>()
    };
    let needs_subject = draft(&with_subject());
    assert_eq!(
        ids(refract.prisms().try_draft(&needs_subject, &both).await),
        [both[1].id()]
    );
    // a field that the draft lacks does no harm
    assert_eq!(
        ids(refract.prisms().try_draft(&latest, &both).await),
        both.each_ref().map(ReadableResult::id)
    );
}

async fn a_draft_explains_why_it_has_no_answers(it: DraftFixture) {
    let latest = it.lens().await.latest;
    let long = "x".repeat(99_000);
    let small = it.save(VersionNumber::FIRST, "Hello", failed()).await;
    let large = it
        .save(VersionNumber::FIRST, &long, answers(&latest, 0))
        .await;
    let server = ModelServer::start(Script::first([]).then(ScriptedReply::status(400)));
    let refract = it.asking_by(&server.url());
    let mut file = file();
    file["context"] = json!("y".repeat(7_900));
    let tried = refract
        .prisms()
        .try_draft(&draft(&file), &[small, large])
        .await;
    let words: Vec<_> = tried
        .iter()
        .map(|pair| pair.answers.as_ref().unwrap_err().to_string())
        .collect();
    assert!(words[0].contains("400"), "{words:?}");
    assert!(
        words[1].starts_with("Request too large: about 26"),
        "{words:?}"
    );
    assert_eq!(server.requests().len(), 1);
}
