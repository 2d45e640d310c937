//! The protocol `systemone` over real TCP, against a scripted server.
mod attempts;
mod concurrency;
mod halving;
mod independent;
mod kept_connections;
mod named_models;
mod pace;
mod reading;
mod replies;
mod reported;
mod rounding;
mod sending;
mod server_message;
mod servers;
mod servers_down;
mod slow_server;
mod splitting;
mod unusable;

use std::time::Duration;

use refract_domain::answer::{Answer, Answers};
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{CallContext, SentFields, Submission};
use refract_model_gateway::{Model, ModelError, ModelGateway, ModelSettings, Protocol};
use refract_test_support::model_server::ModelServer;

/// Settings for a server, with a timeout that no test reaches.
fn settings(url: &str) -> ModelSettings {
    crate::settings(url, Protocol::SystemOne, "jev-latest")
}

fn model(server: &ModelServer) -> Model {
    model_with(settings(&server.url()))
}

fn model_with(settings: ModelSettings) -> Model {
    ModelGateway::new(settings).unwrap().model()
}

fn version(json: &str) -> PrismVersion {
    serde_json::from_str(json).unwrap()
}

/// The documentation's prism: one question of each type.
fn triage() -> PrismVersion {
    version(
        r#"{"fields": [{"key": "text", "label": "Message"}],
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
                          {"key": "today", "label": "Today"}]}]}"#,
    )
}

/// One Yes / No question.
fn yes_no() -> PrismVersion {
    version(
        r#"{"fields": [{"key": "text", "label": "Message"}],
            "questions": [{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}]}"#,
    )
}

fn submission(version: &PrismVersion, text: &str) -> Submission {
    submission_with(version, &[("text", text)], None)
}

fn submission_with(
    version: &PrismVersion,
    fields: &[(&str, &str)],
    context: Option<&str>,
) -> Submission {
    let sent = fields
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let context = context.and_then(|text| CallContext::parse(text.to_owned()).unwrap());
    Submission::new(SentFields::new(sent.collect()), context, version.fields()).unwrap()
}

/// Asks a version's questions about the documentation's text.
async fn ask(model: &Model, version: &PrismVersion) -> Result<Answers, ModelError> {
    model
        .answer(version, &submission(version, "Where is my order?"))
        .await
        .outcome
}

fn answer(answers: &Answers, index: usize) -> &Answer {
    &answers.as_slice().get(index).unwrap().1
}
