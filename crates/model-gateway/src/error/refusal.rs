//! The reason of a refusal, as recognised in the server's message, such as a parameter that the body
//! of a 400 or 422 names.
//!
//! Only names that the protocols send are searched for: parameters, and keywords of a schema. The
//! rest of the body is dropped.
//!
//! Most servers refuse a key with 401 or 403, which needs no words. Gateways in front of model servers
//! also answer 400 or 500, and rest after errors of those behind them.

use std::time::Duration;

use serde_json::Value;

use super::host_refusal::{Excess, HostRefusal, excess, host_refusal};
use crate::error::server_message;

/// Parameters that the protocols send besides `model` and `messages`, and what a gateway that sends them
/// on as others may call them.
const PARAMETERS: [&str; 10] = [
    "add_generation_prompt",
    "chat_template_kwargs",
    "continue_final_message",
    "logprobs",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    SCHEMA_PARAMETER,
    "temperature",
    "top_logprobs",
];

/// The parameter that holds the schema.
const SCHEMA_PARAMETER: &str = "response_format";
/// Keywords of the schema that a server may refuse, without `$`. They are plain English words too, so
/// they count only in a message about a schema.
pub(crate) const SCHEMA_KEYWORDS: [&str; 5] = ["defs", "enum", "maximum", "minimum", "ref"];

/// The parameter that the body names: under `error.param`, else the first in its message. A keyword
/// of the schema takes precedence if the message names one and the parameter is the schema's, or if
/// there is no parameter and the message is about a schema.
pub(crate) fn parameter(body: &[u8]) -> Option<&'static str> {
    let body = String::from_utf8_lossy(body);
    let words = || body.split(|char: char| char != '_' && !char.is_ascii_alphanumeric());
    let one_of = |names: &'static [&'static str]| words().find_map(|word| known(names, word));
    let named = named_by_key(body.as_bytes()).or_else(|| one_of(&PARAMETERS));
    let is_about_schema = match named {
        Some(parameter) => parameter == SCHEMA_PARAMETER,
        None => words().any(|word| word.to_ascii_lowercase().contains("schema")),
    };
    let keyword = is_about_schema.then(|| one_of(&SCHEMA_KEYWORDS));
    keyword.flatten().or(named)
}

/// Whether the message is vLLM's for a number over the server's limit.
pub(crate) fn is_over_limit(body: &[u8]) -> bool {
    String::from_utf8_lossy(body).contains("which is greater than max allowed: ")
}

/// Words about the messages of a chat request.
const MESSAGE_WORDS: [&str; 5] = [
    "add_generation_prompt",
    "assistant",
    "continue_final_message",
    "messages",
    "prefill",
];

/// Whether an error is about the messages of a chat request, such as one that ends with the
/// assistant's.
pub(crate) fn is_about_messages(body: &[u8]) -> bool {
    let subject = server_message::subject(body).unwrap_or_default();
    MESSAGE_WORDS.iter().any(|word| subject.contains(word))
}

fn named_by_key(body: &[u8]) -> Option<&'static str> {
    let reply: Value = serde_json::from_slice(body).ok()?;
    known(&PARAMETERS, reply.pointer("/error/param")?.as_str()?)
}

fn known(names: &[&'static str], word: &str) -> Option<&'static str> {
    names
        .iter()
        .copied()
        .find(|name| name.eq_ignore_ascii_case(word))
}

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
                400 | 422 => parameter(body).map(Self::Parameter),
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
        // the words of servers and proxies for a body over their limit
        413 if has_one_of(&["too large", "too long", "too big", "exceed", "limit"]) => {
            Some(RefusalReason::Excess(Excess::Tokens))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_is_named_by_its_key_or_by_the_first_of_its_words() {
        for (body, expected) in [
            (
                r#"{"error":{"message":"Use 'max_completion_tokens' instead","param":"max_tokens"}}"#,
                Some("max_tokens"),
            ),
            (
                r#"{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.","param":null}}"#,
                Some("max_tokens"),
            ),
            (
                r#"{"detail":[{"loc":["body","chat_template_kwargs"],"input":{"temperature":0}}]}"#,
                Some("chat_template_kwargs"),
            ),
            (
                r#"{"object":"error","message":"top_logprobs must be at most 5"}"#,
                Some("top_logprobs"),
            ),
            ("logprobs are not for this model", Some("logprobs")),
            ("Logprobs is not enabled for models/x", Some("logprobs")),
            // messages of gateways, hosted models and local servers
            (
                r#"{"error":{"message":"litellm.UnsupportedParamsError: ollama_chat does not support parameters: ['logprobs', 'top_logprobs'], for model=m. To drop these, set `litellm.drop_params=True`","type":"None","param":null,"code":"400"}}"#,
                Some("logprobs"),
            ),
            (
                r#"{"error":{"message":"Unrecognized request argument supplied: chat_template_kwargs","type":"invalid_request_error","param":null}}"#,
                Some("chat_template_kwargs"),
            ),
            (
                r#"{"object":"error","message":"Requested sample logprobs of 20, which is greater than max allowed: 5","param":null,"code":400}"#,
                Some("logprobs"),
            ),
            (
                r#"{"error":{"code":400,"message":"Assistant response prefill is incompatible with enable_thinking."}}"#,
                None,
            ),
            ("my_logprobs", None),
            (r#"{"error":{"message":"no","param":"messages"}}"#, None),
            ("", None),
        ] {
            assert_eq!(parameter(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn a_keyword_of_the_schema_counts_before_the_parameter_that_holds_it() {
        for (body, expected) in [
            // messages of hosted models and gateways
            (
                r#"{"error":{"message":"Invalid schema for response_format 'review': In context=('properties', 'scores', 'items', 'properties', 'value'), 'minimum' is not permitted.","type":"invalid_request_error","param":"response_format","code":null}}"#,
                Some("minimum"),
            ),
            (
                r#"{"error":{"message":"litellm.BadRequestError: OpenAIException - Invalid schema for response_format 'review': In context=('properties', 'logprobs'), 'maximum' is not permitted.","type":null,"param":null,"code":"400"}}"#,
                Some("maximum"),
            ),
            (
                r#"{"error":{"message":"output_format.schema: For 'integer' type, property 'minimum' is not supported","type":"invalid_request_error"}}"#,
                Some("minimum"),
            ),
            (
                r#"{"error":{"message":"litellm.BadRequestError: BedrockException - {\"message\":\"The model returned the following errors: output_config.format.schema: For 'integer' type, properties maximum, minimum are not supported\"}. Received Model Group=claude","param":null,"code":"400"}}"#,
                Some("maximum"),
            ),
            (
                r#"{"message":"Unsupported JSON schema fields: {'minimum', 'maximum'}","type":"invalid_request_error","param":"response_format","code":"wrong_api_format"}"#,
                Some("minimum"),
            ),
            (
                r#"[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"maximum\" at 'generation_config.response_schema.properties[0].value': Cannot find field.","status":"INVALID_ARGUMENT"}}]"#,
                Some("maximum"),
            ),
            // plain English
            (
                r#"{"error":{"message":"response_format is not supported by this model","param":null}}"#,
                Some("response_format"),
            ),
            (
                r#"{"error":{"message":"This model supports a maximum of 8192 completion tokens, but max_tokens is 9000"}}"#,
                Some("max_tokens"),
            ),
            (
                r#"{"error":{"message":"temperature: minimum is 1 for this model (see its schema)","param":"temperature"}}"#,
                Some("temperature"),
            ),
            ("the maximum number of requests in flight is 4", None),
        ] {
            assert_eq!(parameter(body.as_bytes()), expected, "{body}");
        }
    }
}
