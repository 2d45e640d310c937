//! The protocol `chat` over real TCP, against a scripted server.
mod failures;
mod fidelity;
mod follow_ups;
mod learned_meanwhile;
mod llama_cpp;
mod named_tokens;
mod prompt_four;
mod prompts;
mod reading;
mod reading_order;
mod refusals;
mod servers;
mod tokens;

use std::time::Duration;

use refract_domain::answer::{Answer, Answers};
use refract_domain::prism::PrismVersion;
use refract_model_gateway::{ChatPrompt, Model, ModelError, ModelGateway, ModelSettings, Protocol};
use refract_test_support::model_server::ModelServer;
use serde_json::{Value, json};

use crate::submission;

/// A model with a timeout that no test reaches.
fn model(server: &ModelServer) -> Model {
    ModelGateway::new(settings(server)).unwrap().model()
}

fn impatient(server: &ModelServer, timeout: Duration) -> Model {
    let settings = ModelSettings {
        timeout,
        ..settings(server)
    };
    ModelGateway::new(settings).unwrap().model()
}

fn settings(server: &ModelServer) -> ModelSettings {
    crate::settings(&server.url(), Protocol::Chat, "qwen")
}

/// A model that is asked by prompt 3.
fn material_first(server: &ModelServer) -> Model {
    let settings = ModelSettings {
        prompt: ChatPrompt::MaterialFirst,
        ..settings(server)
    };
    ModelGateway::new(settings).unwrap().model()
}

fn version(questions: &Value) -> PrismVersion {
    let json = json!({"fields": [{"key": "text", "label": "Message"}], "questions": questions});
    serde_json::from_value(json).unwrap()
}

fn yes_no() -> PrismVersion {
    version(&json!([{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}]))
}

fn scale(levels: usize) -> PrismVersion {
    let levels = (0..levels)
        .map(|level| json!({"key": format!("l{level}"), "label": format!("Level {level}")}));
    version(
        &json!([{"key": "urgency", "type": "scale", "text": "How urgent is it?",
                        "levels": levels.collect::<Vec<_>>()}]),
    )
}

/// A choice with this many outcomes, the two built-in ones included.
fn choice(outcomes: usize) -> PrismVersion {
    let options = (0..outcomes - 2)
        .map(|option| json!({"key": format!("o{option}"), "label": format!("Option {option}")}));
    version(
        &json!([{"key": "topic", "type": "choice", "text": "What is it about?",
                        "options": options.collect::<Vec<_>>()}]),
    )
}

async fn ask(server: &ModelServer, version: &PrismVersion) -> Result<Answers, ModelError> {
    let submission = submission(version, "Where is my order?", None);
    model(server).answer(version, &submission).await.outcome
}

/// The probabilities of an answer, in the prism's order; for Yes / No, of yes and of no.
fn probabilities(answer: &Answer) -> Vec<f64> {
    match answer {
        Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => {
            probabilities.iter().map(|(_, p)| p.to_f64()).collect()
        }
        Answer::YesNo { probability } => vec![probability.to_f64(), 1.0 - probability.to_f64()],
    }
}

fn only(answers: &Answers) -> &Answer {
    &answers.as_slice()[0].1
}
