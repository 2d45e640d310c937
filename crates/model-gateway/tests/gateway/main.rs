//! The gateway over real TCP, against scripted servers: a module for each protocol.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that meets the unexpected ends there"
)]

mod chat;
mod decisions;
mod gemini;
mod host_refusals;
mod hosts;
mod services;
mod stated;
mod system_one;

use std::num::NonZeroUsize;
use std::time::Duration;

use refract_domain::prism::PrismVersion;
use refract_domain::submission::{CallContext, SentFields, Submission};
use refract_model_gateway::{ChatPrompt, ConnectionSettings, ModelSettings, Protocol};

/// The settings for a server and its model, with a timeout that no test reaches.
fn settings(url: &str, protocol: Protocol, name: &str) -> ModelSettings {
    ModelSettings {
        endpoint: url.parse().unwrap(),
        protocol,
        name: name.to_owned(),
        api_key: None,
        connections: ConnectionSettings::default(),
        request_tokens: 52_000,
        request_questions: NonZeroUsize::new(100).unwrap(),
        requests_per_minute: None,
        tokens_per_minute: None,
        timeout: Duration::from_secs(20),
        concurrency: 1024,
        prompt: ChatPrompt::default(),
        follow_ups: 26,
        prices: None,
    }
}

/// A text and a context for a version with the field `text`.
fn submission(version: &PrismVersion, text: &str, context: Option<&str>) -> Submission {
    let sent = SentFields::new(vec![("text".to_owned(), text.to_owned())]);
    let context = context.and_then(|text| CallContext::parse(text.to_owned()).unwrap());
    Submission::new(sent, context, version.fields()).unwrap()
}
