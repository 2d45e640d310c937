//! Answers of the server, and their effect.

use refract_domain::key::QuestionKey;
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use serde_json::{Value, json};

use super::*;

/// The outcome of asking a server that answers with this body.
pub(super) async fn answers_to(body: &str) -> Result<Answers, ModelError> {
    let server = ModelServer::start(ScriptedReply::body(body));
    ask(&model(&server), &triage()).await
}

/// The outcome of asking a server that answers as in the contract, except for one question.
pub(super) async fn with_answer(key: &str, answer: &str) -> Result<Answers, ModelError> {
    let mut body = contract_answer();
    body["answers"][key] = serde_json::from_str(answer).unwrap();
    answers_to(&body.to_string()).await
}

pub(super) fn contract_answer() -> Value {
    json!({
        "model": "jev-1.13.0",
        "answers": {
            "topic": {"type": "choice", "choice": "delivery", "confidence": 0.9,
                      "probabilities": {"billing": 0.02, "delivery": 0.95, "other": 0.02, "insufficient_information": 0.01}},
            "angry": {"type": "noul", "noul": 0.12},
            "urgency": {"type": "score", "score": 0.7, "confidence": 0.5,
                        "legend": {"0": "Can wait", "1": "This week", "2": "Today"},
                        "probabilities": {"0": 0.4, "1": 0.5, "2": 0.1}}},
        "usage": {"input_tokens": 318, "output_tokens": 34},
    })
}

/// A stored answer in the form of `format=raw`.
pub(super) fn stored(answers: &Answers, index: usize) -> String {
    serde_json::to_string(answer(answers, index)).unwrap()
}

pub(super) fn unanswered(key: &str) -> ModelError {
    ModelError::Unanswered(QuestionKey::parse(key).unwrap())
}
