//! Refusals of gateways in front of model servers: of the key, and while they rest.
//!
//! Most servers refuse a key with 401 or 403, which needs no words. Gateways also answer 400 or 500.

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

/// What a message in lower case says.
pub(super) fn gateway_refusal(status: u16, message: &str) -> Option<GatewayRefusal> {
    let has_one_of = |words: &[&str]| words.iter().any(|words| message.contains(words));
    match status {
        400 | 422 | 500 if has_one_of(&KEY_WORDS) => Some(GatewayRefusal::Key),
        // Higress's status for it, which is about no key
        403 if message.contains("upstream connect error") => Some(GatewayRefusal::NoServer),
        429 if has_one_of(&RESTING_WORDS) => Some(GatewayRefusal::Resting),
        _ => None,
    }
}
