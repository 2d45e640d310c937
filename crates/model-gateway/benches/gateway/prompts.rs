//! Questions, texts and the answers of the server.

use std::num::NonZeroUsize;
use std::time::Duration;

use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission};
use refract_model_gateway::{
    ChatPrompt, ConnectionSettings, Model, ModelGateway, ModelSettings, Protocol,
};
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use serde_json::{Value, json};

/// A prism with this many questions of alternating types.
pub(crate) fn version(questions: usize) -> PrismVersion {
    let option = |number| json!({"key": format!("o{number}"), "label": format!("Option {number}")});
    let options: Vec<Value> = (0..4).map(option).collect();
    let question = |number: usize| {
        let key = format!("q{number}");
        match number % 3 {
            0 => json!({"key": key, "type": "yes_no", "text": "Is the writer angry?"}),
            1 => {
                json!({"key": key, "type": "choice", "text": "What is it about?", "options": options})
            }
            _ => {
                json!({"key": key, "type": "scale", "text": "How urgent is it?", "levels": options})
            }
        }
    };
    let questions: Vec<Value> = (0..questions).map(question).collect();
    let json = json!({"fields": [{"key": "text", "label": "Message"}], "questions": questions});
    serde_json::from_value(json).unwrap()
}

/// A submission with a text of this many characters.
pub(crate) fn submission(version: &PrismVersion, characters: usize) -> Submission {
    let text = "Where is my order? ".repeat(characters / 19 + 1);
    let text = text.chars().take(characters).collect();
    let sent = SentFields::new(vec![("text".to_owned(), text)]);
    Submission::new(sent, None, version.fields()).unwrap()
}

/// The body that answers all questions of the prism; in the protocol `chat`, any one question.
pub(crate) fn answer(protocol: Protocol, questions: usize) -> Value {
    match protocol {
        Protocol::SystemOne | Protocol::Gemini => {
            let shares = json!({"o0": 0.7, "o1": 0.1, "o2": 0.1, "o3": 0.1});
            let levels = json!({"0": 0.7, "1": 0.1, "2": 0.1, "3": 0.1});
            let answer = |number: usize| {
                let answer = match number % 3 {
                    0 => json!({"type": "noul", "noul": 0.5}),
                    1 => {
                        json!({"type": "choice", "choice": "o0", "confidence": 0.5, "probabilities": shares})
                    }
                    _ => json!({"type": "score", "score": 0.5, "probabilities": levels}),
                };
                (format!("q{number}"), answer)
            };
            let answers: serde_json::Map<_, _> = (0..questions).map(answer).collect();
            json!({"model": "m", "answers": answers, "usage": {"input_tokens": 9, "output_tokens": 9}})
        }
        Protocol::Decisions => {
            let share = |number: usize| if number == 0 { 0.7 } else { 0.1 };
            let choices: Vec<Value> = (0..4)
                .map(|number| json!({"value": format!("o{number}"), "probability": share(number)}))
                .collect();
            let levels: Vec<Value> = (0..4)
                .map(|number| {
                    json!({"label": format!("Option {number}"), "value": number, "probability": share(number)})
                })
                .collect();
            let answer = |number: usize| {
                let name = format!("q{number}");
                match number % 3 {
                    0 => json!({"type": "predicate", "name": name, "probability": 0.5}),
                    1 => {
                        json!({"type": "choice", "name": name, "choice": "o0", "confidence": 0.5, "probabilities": choices})
                    }
                    _ => {
                        json!({"type": "score", "name": name, "score": 0.5, "probabilities": levels})
                    }
                }
            };
            let answers: Vec<Value> = (0..questions).map(answer).collect();
            json!({"model": "m", "answers": answers, "usage": {"input_tokens": 9, "output_tokens": 9}})
        }
        Protocol::Chat | Protocol::Stated => {
            // a code for each type of question, and as many alternatives as requested
            let codes = ["A", "yes", "0"].map(str::to_owned);
            let others = (0..97).map(|number| format!("word{number}"));
            let tokens = codes.into_iter().chain(others);
            let tokens: Vec<Value> = tokens
                .zip(0..)
                .map(|(token, rank)| {
                    let logprob = -1.5 - f64::from(rank) / 7.0;
                    json!({"token": token, "bytes": token.as_bytes(), "logprob": logprob})
                })
                .collect();
            let position =
                json!({"token": "A", "bytes": [65], "logprob": -1.5, "top_logprobs": tokens});
            json!({"model": "m", "choices": [{"message": {"content": "A"}, "logprobs": {"content": [position]}}],
                   "usage": {"prompt_tokens": 9, "completion_tokens": 1}})
        }
    }
}

/// A model for this thread, at the server with this address.
pub(crate) fn model(protocol: Protocol, url: &str) -> Model {
    let settings = settings(protocol, url);
    ModelGateway::new(settings).unwrap().model()
}

/// The settings for the server with this address.
pub(crate) fn settings(protocol: Protocol, url: &str) -> ModelSettings {
    ModelSettings {
        endpoint: url.parse().unwrap(),
        protocol,
        name: "m".to_owned(),
        api_key: None,
        connections: ConnectionSettings::default(),
        request_tokens: 52_000,
        request_questions: NonZeroUsize::new(100).unwrap(),
        requests_per_minute: None,
        tokens_per_minute: None,
        timeout: Duration::from_mins(1),
        concurrency: 100_000,
        prompt: ChatPrompt::default(),
        follow_ups: 26,
        prices: None,
    }
}

/// The bodies of the requests about a submission, and their path after the base address.
pub(crate) async fn requests(
    protocol: Protocol,
    version: &PrismVersion,
    submission: &Submission,
) -> (Vec<Vec<u8>>, String) {
    let questions = version.questions().len();
    let server = ModelServer::start(ScriptedReply::json(&answer(protocol, questions)));
    let model = model(protocol, &server.url());
    model.answer(version, submission).await.outcome.unwrap();
    let sent = server.requests();
    let path = sent.first().unwrap().path.replace("/v1", "");
    (sent.into_iter().map(|request| request.body).collect(), path)
}
