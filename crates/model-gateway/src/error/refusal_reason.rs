//! The reason of a refusal, as recognised in the server's message.
//!
//! Most servers refuse a key with 401 or 403, which needs no words. Gateways in front of model servers
//! also answer 400 or 500, and rest after errors of those behind them.

use std::time::Duration;

use super::host_refusal::{HostRefusal, host_refusal};
use super::refusal;
use super::size_refusal::{Excess, excess};

/// Names that servers have for a system message.
const SYSTEM_WORDS: [&str; 6] = [
    "system role",
    "system message",
    "system prompt",
    "system instruction",
    "developer instruction",
    "'system'",
];
/// Phrases for something that a server does not accept.
const NOT_TAKEN: [&str; 4] = ["not support", "unsupported", "not enabled", "not allowed"];
/// Errors of chat templates that require the user's message first.
const USER_FIRST: [&str; 3] = [
    "roles must alternate",
    "only user and assistant roles",
    "got system",
];
/// Words and codes about a missing or wrong key, in lower case.
const KEY_WORDS: [&str; 17] = [
    "access token",
    "api key",
    "api token",
    "api-key",
    "api_key",
    "apikey",
    "auth credentials",
    "authentication",
    "authorization header",
    "no connected db",
    "no_db_connection",
    "security token",
    "subscription key",
    "unauthenticated",
    "unauthorized",
    "未提供令牌",
    "无效的令牌",
];
/// `LiteLLM`'s words for a rest.
const RESTING_WORDS: [&str; 2] = [
    "all_deployments_in_cooldown",
    "no deployments available for selected model",
];

/// The reason of a refusal, as recognised in the server's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefusalReason {
    /// The account or a filter of the host.
    Host(HostRefusal),
    /// The request has too much of something.
    Excess(Excess),
    /// The server is still loading its model.
    Loading,
    /// The model's chat template takes no system message.
    SystemMessage,
    /// The sender's key, or a rest of a gateway.
    Gateway(GatewayRefusal),
    /// A parameter that the protocols send.
    Parameter(&'static str),
    /// A page for people, which no model server sends but a firewall or proxy in front of it.
    Page,
    /// Another reason, or none that is recognised.
    Unsaid,
}

/// What a gateway refuses for its own sake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GatewayRefusal {
    /// No key, or one that it does not know.
    Key,
    /// It asks no server for a while after errors of those behind it.
    Resting,
    /// It could not reach the server behind it.
    NoServer,
}

impl RefusalReason {
    /// The reason of a refusal with this message, its `subject`, in lower case.
    pub(super) fn of(
        status: u16,
        subject: &str,
        retry_after: Option<Duration>,
        body: &[u8],
    ) -> Self {
        let host = host_refusal(status, subject, retry_after).map(Self::Host);
        let reason = host
            .or_else(|| reason(status, subject))
            .or_else(|| match status {
                400 | 422 => refusal::parameter(body).map(Self::Parameter),
                403 if is_page(body) => Some(Self::Page),
                _ => None,
            });
        reason.unwrap_or(Self::Unsaid)
    }
}

/// Finds the reason in a message in lower case. Only some statuses allow each reason.
fn reason(status: u16, message: &str) -> Option<RefusalReason> {
    // llama.cpp puts the template's source before the error that the template raises
    let message = message.rsplit("jinja exception:").next().unwrap_or(message);
    let has_one_of = |words: &[&str]| words.iter().any(|words| message.contains(words));
    match status {
        // OpenAI's words for a text with more tokens than a minute allows
        429 if has_one_of(&["request too large"]) => Some(RefusalReason::Excess(Excess::Tokens)),
        503 if has_one_of(&["loading"]) && has_one_of(&["model"]) => Some(RefusalReason::Loading),
        400 | 413 | 422 | 500 if excess_at(status, message).is_some() => {
            excess_at(status, message).map(RefusalReason::Excess)
        }
        400 | 422 | 500
            if has_one_of(&USER_FIRST) || has_one_of(&SYSTEM_WORDS) && has_one_of(&NOT_TAKEN) =>
        {
            Some(RefusalReason::SystemMessage)
        }
        _ => gateway_refusal(status, message).map(RefusalReason::Gateway),
    }
}

/// What the request has too much of. A 500 is believed only about tokens.
fn excess_at(status: u16, message: &str) -> Option<Excess> {
    excess(message).filter(|excess| status != 500 || *excess == Excess::Tokens)
}

/// What a message in lower case says.
fn gateway_refusal(status: u16, message: &str) -> Option<GatewayRefusal> {
    let has_one_of = |words: &[&str]| words.iter().any(|words| message.contains(words));
    match status {
        400 | 422 | 500 if has_one_of(&KEY_WORDS) => Some(GatewayRefusal::Key),
        // Higress's status for it, which is about no key
        403 if message.contains("upstream connect error") => Some(GatewayRefusal::NoServer),
        429 if has_one_of(&RESTING_WORDS) => Some(GatewayRefusal::Resting),
        _ => None,
    }
}

/// Whether a body is a page of HTML.
fn is_page(body: &[u8]) -> bool {
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    text.trim_ascii_start().starts_with(b"<")
}
