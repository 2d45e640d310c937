//! Memory needed to ask the model, counted by this process's allocator.
//!
//! This target has only one test: the allocator would count the memory of others too.
#![expect(
    clippy::unwrap_used,
    reason = "what cannot be done ends the test that asked for it"
)]

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use peak_alloc::PeakAlloc;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission};
use refract_model_gateway::{
    ChatPrompt, ConnectionSettings, Model, ModelGateway, ModelSettings, Protocol,
};
use refract_test_support::fixed_server::TestServer;
use serde_json::{Value, json};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const KIB: usize = 1024;
/// Characters of the text, the maximum for a field.
const TEXT: usize = 100_000;

/// A prism with this many Yes / No questions.
fn version(questions: usize) -> PrismVersion {
    let question =
        |number| json!({"key": format!("q{number}"), "type": "yes_no", "text": "Is it?"});
    let questions: Value = (0..questions).map(question).collect();
    let json = json!({"fields": [{"key": "text", "label": "Message"}], "questions": questions});
    serde_json::from_value(json).unwrap()
}

fn submission(version: &PrismVersion) -> Submission {
    // half of the text is quotes: two characters each in JSON, four in a JSON string that holds
    // JSON
    let text = "x\"".repeat(TEXT / 2);
    let sent = SentFields::new(vec![("text".to_owned(), text)]);
    Submission::new(sent, None, version.fields()).unwrap()
}

fn model(server: SocketAddr, protocol: Protocol) -> Model {
    let settings = ModelSettings {
        endpoint: format!("http://{server}/v1").parse().unwrap(),
        protocol,
        name: "m".to_owned(),
        api_key: None,
        connections: ConnectionSettings::default(),
        request_tokens: 52_000,
        request_questions: NonZeroUsize::new(100).unwrap(),
        requests_per_minute: None,
        tokens_per_minute: None,
        timeout: Duration::from_mins(1),
        concurrency: 1024,
        prompt: ChatPrompt::default(),
        follow_ups: 26,
        prices: None,
    };
    ModelGateway::new(settings).unwrap().model()
}

fn completion() -> Value {
    let yes = json!({"token": "yes", "logprob": -0.1});
    let no = json!({"token": "no", "logprob": -2.4});
    let position = json!({"token": "yes", "logprob": -0.1, "top_logprobs": [yes, no]});
    json!({
        "choices": [{"message": {"content": "yes"}, "logprobs": {"content": [position]}}],
        "usage": {"prompt_tokens_details": {"cached_tokens": 0}},
    })
}

fn decisions(questions: usize) -> Value {
    let answer =
        |number| json!({"type": "predicate", "name": format!("q{number}"), "probability": 0.5});
    let answers: Vec<Value> = (0..questions).map(answer).collect();
    json!({"answers": answers})
}

fn answers(questions: usize) -> Value {
    let answer = |number| (format!("q{number}"), json!({"type": "noul", "noul": 0.5}));
    let answers: serde_json::Map<_, _> = (0..questions).map(answer).collect();
    json!({"answers": answers})
}

/// Peak memory of asking all questions about one submission, with nearly all requests in flight at
/// once.
/// The prism and the submission do not count.
async fn peak(protocol: Protocol, questions: usize) -> usize {
    let (answer, requests) = match protocol {
        Protocol::SystemOne | Protocol::Gemini => (answers(questions), 1),
        Protocol::Decisions => (decisions(questions), 1),
        Protocol::Chat | Protocol::Stated => (completion(), questions),
    };
    let server = TestServer {
        gathers: requests,
        // three tell that the server keeps no text, so all others go at once
        ungathered: 3.min(requests),
        ..TestServer::answering(answer)
    };
    let model = model(server.start().unwrap(), protocol);
    let version = version(questions);
    let submission = submission(&version);
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let call = model.answer(&version, &submission).await;
    let peak = MEMORY.peak_usage() - before;
    call.outcome.unwrap();
    assert_eq!(call.report.requests, u32::try_from(requests).unwrap());
    peak
}

#[actix_rt::test]
async fn a_call_copies_its_text_a_constant_number_of_times() {
    for (protocol, of_one) in [
        (Protocol::SystemOne, 560),
        (Protocol::Decisions, 800),
        (Protocol::Gemini, 800),
        (Protocol::Chat, 800),
    ] {
        let (one, hundred) = (peak(protocol, 1).await, peak(protocol, 100).await);
        let peaks = format!("{}: {one} and {hundred} bytes", protocol.name());
        assert!(one < of_one * KIB, "{peaks}");
        // in the protocol `chat` the body has 250 kB, and 97 requests are in flight
        let of_another = match protocol {
            Protocol::SystemOne | Protocol::Decisions | Protocol::Gemini => KIB,
            Protocol::Chat | Protocol::Stated => 40 * KIB,
        };
        assert!(hundred < one + 99 * of_another, "{peaks}");
    }
}
