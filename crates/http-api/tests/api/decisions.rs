//! The protocol `decisions` from the setting to the saved result.

use refract_test_stack::expected::{ANSWERS, JSON, STORED, Saved};
use refract_test_stack::service::{Backend, Service, Setup, TEXT};
use refract_test_support::model_server::{Script, ScriptedReply};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(a_text_is_answered_by_a_server_that_speaks_decisions);

async fn a_text_is_answered_by_a_server_that_speaks_decisions(backend: Backend) {
    let setup = Setup {
        script: Script::from(ScriptedReply::decisions()),
        settings: &[
            ("REFRACT_MODEL_PROTOCOL", "decisions"),
            ("REFRACT_MODEL_NAME", "luna"),
            ("REFRACT_MODEL_API_KEY", "model-credential"),
        ],
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let made = service.create(&json!({"text": TEXT})).await;
    let saved = Saved::of(&made);
    made.assert(200, JSON, &saved.envelope(ANSWERS));
    let raw = service.read(&saved.id, "?format=raw").await;
    assert!(raw.body.contains(STORED), "{raw:?}");
    let shown = ["results", "show", &saved.id, "--format", "table"];
    let shown = service.run(&shown).await.done();
    let asked = "\nasked  decisions, scripted-1, prompts ";
    assert!(shown.contains(asked), "{shown}");

    let refused = json!({"answers": [
        {"type": "refusal", "name": "topic"},
        {"type": "predicate", "name": "angry", "probability": 0.5},
        {"type": "score", "name": "urgency", "probabilities": [{"value": 0, "probability": 1}]}]});
    service.model.then_once(ScriptedReply::json(&refused));
    let failed = service.create(&json!({"text": TEXT})).await;
    assert_eq!(failed.status, 502, "{failed:?}");
    assert_eq!(
        Saved::of(&failed).error.as_deref(),
        Some("The model refused to answer the question topic.")
    );

    let sent = service.model.requests();
    assert_eq!(sent.len(), 2);
    assert_eq!(
        (sent[0].method.as_str(), sent[0].path.as_str()),
        ("POST", "/v1/decisions")
    );
    let credential = Some("Bearer model-credential");
    assert_eq!(sent[0].header("authorization"), credential);
    let sent = sent[0].json();
    assert_eq!(sent["model"], "luna");
    let input: Value = serde_json::from_str(sent["input"].as_str().unwrap()).unwrap();
    assert_eq!(
        input,
        json!({"context": "We sell bicycles online.", "text": TEXT})
    );
}
