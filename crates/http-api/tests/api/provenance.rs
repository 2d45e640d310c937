//! Provenance: the model's name and token counts, as its server reports them. Whatever their
//! values, the result is saved, and callers never see them.

use refract_test_stack::service::{Backend, Service};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(a_server_may_say_of_itself_what_it_likes);

/// Answers to the example prism's questions.
fn answers() -> Value {
    json!({
        "topic": {"type": "choice", "choice": "delivery", "confidence": 0.9,
                  "probabilities": {"delivery": 1}},
        "angry": {"type": "noul", "noul": 0.1},
        "urgency": {"type": "score", "probabilities": {"0": 1}}})
}

async fn a_server_may_say_of_itself_what_it_likes(backend: Backend) {
    let service = Service::start(backend).await;
    for (model, usage) in [
        (
            json!("jev-1.13.0"),
            json!({"input_tokens": 318, "output_tokens": 34}),
        ),
        // PostgreSQL cannot store U+0000
        (
            json!("a\u{0}b\u{1b}[31m\u{10ffff}"),
            json!({"input_tokens": u64::MAX}),
        ),
        (
            json!("x".repeat(100_000)),
            json!({"input_tokens": -1, "output_tokens": 1.5}),
        ),
        (json!(["list"]), json!("much")),
        (Value::Null, Value::Null),
    ] {
        let reply = json!({"model": model, "answers": answers(), "usage": usage});
        service.model.then_once(ScriptedReply::json(&reply));
        let made = service.create(&json!({"text": "Where is my order?"})).await;
        assert_eq!(made.status, 200, "{made:?}");
        let made: Value = serde_json::from_str(&made.body).unwrap();
        let id = made["id"].as_str().unwrap();
        for format in ["json", "raw", "csv", "tsv", "jsonl"] {
            let read = service.read(id, &format!("?format={format}")).await;
            assert_eq!(read.status, 200, "{read:?}");
            for word in ["jev", "systemone", "[31m"] {
                assert!(!read.body.contains(word), "{read:?}");
            }
        }
    }
    assert_eq!(service.results_made().await, 5);
}
