//! The protocol `decisions` over real TCP, against a scripted server.
mod order;
mod reading;
mod refusals;
mod sending;
mod splitting;
mod unusable;

use refract_domain::answer::Answers;
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{CallContext, SentFields, Submission};
use refract_model_gateway::{Model, ModelError, ModelGateway, ModelSettings, Protocol};
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use serde_json::{Value, json};

use crate::submission;

fn model(server: &ModelServer) -> Model {
    gateway(server, 52_000).model()
}

fn gateway(server: &ModelServer, request_tokens: usize) -> ModelGateway {
    let settings = ModelSettings {
        request_tokens,
        ..crate::settings(&server.url(), Protocol::Decisions, "luna")
    };
    ModelGateway::new(settings).unwrap()
}

fn version(questions: &Value) -> PrismVersion {
    let json = json!({"fields": [{"key": "text", "label": "Message"}],
                      "context": "We sell bicycles online.", "questions": questions});
    serde_json::from_value(json).unwrap()
}

/// The documentation's prism: one question of each type.
fn triage() -> PrismVersion {
    version(&json!([
        {"key": "topic", "type": "choice", "text": "What is the message about?",
         "instructions": "Judge by the main request.",
         "options": [{"key": "billing", "label": "Billing", "description": "charges and invoices"},
                     {"key": "delivery", "label": "Delivery"}]},
        {"key": "angry", "type": "yes_no", "text": "Is the writer angry?"},
        {"key": "urgency", "type": "scale", "text": "How urgent is it?",
         "levels": [{"key": "can_wait", "label": "Can wait"},
                    {"key": "this_week", "label": "This week", "description": "by Friday"},
                    {"key": "today", "label": "Today"}]}]))
}

/// Asks the questions of [`triage`].
async fn ask(server: &ModelServer) -> Result<Answers, ModelError> {
    let version = triage();
    let submission = submission(&version, "Where is my order?", None);
    model(server).answer(&version, &submission).await.outcome
}

/// The documentation's answer to the questions of [`triage`].
fn documented() -> Value {
    json!({
        "model": "luna-1",
        "answers": [
            {"type": "choice", "name": "topic", "choice": "delivery", "confidence": 0.9,
             "probabilities": [{"value": "billing", "probability": 0.02}, {"value": "delivery", "probability": 0.95},
                               {"value": "other", "probability": 0.02},
                               {"value": "insufficient_information", "probability": 0.01}]},
            {"type": "predicate", "name": "angry", "probability": 0.12},
            {"type": "score", "name": "urgency", "score": 0.7, "confidence": 0.5,
             "probabilities": [{"label": "Can wait", "value": 0, "probability": 0.4},
                               {"label": "This week: by Friday", "value": 1, "probability": 0.5},
                               {"label": "Today", "value": 2, "probability": 0.1}]}],
        "usage": {"input_tokens": 318, "input_tokens_details": {"cached_tokens": 0},
                  "output_tokens": 34, "total_tokens": 352},
    })
}

/// The outcome of asking a server that answers with this body.
async fn answers_to(body: &str) -> Result<Answers, ModelError> {
    ask(&ModelServer::start(ScriptedReply::body(body))).await
}

/// The outcome of asking a server that answers as documented, except at one index.
async fn with_answer(place: usize, answer: &str) -> Result<Answers, ModelError> {
    let mut body = documented();
    body["answers"][place] = serde_json::from_str(answer).unwrap();
    answers_to(&body.to_string()).await
}

/// An answer in the form of `format=raw`.
fn stored(answers: &Answers, place: usize) -> String {
    serde_json::to_string(&answers.as_slice()[place].1).unwrap()
}

fn key(key: &str) -> QuestionKey {
    QuestionKey::parse(key).unwrap()
}
