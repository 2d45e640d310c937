//! The protocol `gemini` over real TCP, against a scripted server.
mod blocked;
mod reading;
mod sending;

use refract_domain::answer::Answers;
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_model_gateway::{Model, ModelError, ModelGateway, ModelReply, ModelSettings, Protocol};
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use serde_json::{Value, json};

use crate::submission;

fn gateway(server: &ModelServer, request_tokens: usize) -> ModelGateway {
    let url = server.url().replace("/v1", "/v1beta");
    let settings = ModelSettings {
        request_tokens,
        api_key: Some("AIza-1".parse().unwrap()),
        ..crate::settings(&url, Protocol::Gemini, "gemini-decision-1")
    };
    ModelGateway::new(settings).unwrap()
}

fn model(server: &ModelServer) -> Model {
    gateway(server, 52_000).model()
}

/// The documentation's prism: one question of each type.
fn triage() -> PrismVersion {
    let json = json!({
        "fields": [{"key": "text", "label": "Message"}],
        "context": "We sell bicycles online.",
        "questions": [
            {"key": "topic", "type": "choice", "text": "What is the message about?",
             "instructions": "Judge by the main request.",
             "options": [{"key": "billing", "label": "Billing", "description": "charges and invoices"},
                         {"key": "delivery", "label": "Delivery"}]},
            {"key": "angry", "type": "yes_no", "text": "Is the writer angry?"},
            {"key": "urgency", "type": "scale", "text": "How urgent is it?",
             "levels": [{"key": "can_wait", "label": "Can wait"},
                        {"key": "this_week", "label": "This week"},
                        {"key": "today", "label": "Today"}]}]});
    serde_json::from_value(json).unwrap()
}

/// Asks the questions of [`triage`].
async fn ask(server: &ModelServer) -> ModelReply {
    let version = triage();
    let submission = submission(&version, "Where is my order?", None);
    model(server).answer(&version, &submission).await
}

/// An answer to the questions of [`triage`], as the format's client types it.
fn documented() -> Value {
    json!({
        "answers": {
            "topic": {"type": "choice", "choice": "delivery", "confidence": 0.95,
                      "probabilities": {"billing": 0.02, "delivery": 0.95, "other": 0.02,
                                        "insufficient_information": 0.01}},
            "angry": {"type": "noul", "noul": 0.12, "confidence": 0.88},
            "urgency": {"type": "score", "score": 0.7, "confidence": 0.5,
                        "legend": {"0": "Can wait", "1": "This week", "2": "Today"},
                        "probabilities": {"0": 0.4, "1": 0.5, "2": 0.1}}},
        "usage": {"total_input_tokens": 318, "total_output_tokens": 0, "total_tokens": 318,
                  "total_cached_tokens": 12},
    })
}

/// The outcome of asking a server that answers with this body.
async fn answers_to(body: &str) -> Result<Answers, ModelError> {
    ask(&ModelServer::start(ScriptedReply::body(body)))
        .await
        .outcome
}

/// An answer in the form of `format=raw`.
fn stored(answers: &Answers, place: usize) -> String {
    serde_json::to_string(&answers.as_slice()[place].1).unwrap()
}

fn key(key: &str) -> QuestionKey {
    QuestionKey::parse(key).unwrap()
}
