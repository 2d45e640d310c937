//! Finds the parameter that a server refused in the body of a 400 or 422.
//!
//! Only names of parameters that the protocols send are looked for. The rest of the body is
//! dropped.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{nested, object, string};

/// Parameters that the protocols send besides `model` and `messages`.
const PARAMETERS: [&str; 9] = [
    "add_generation_prompt",
    "chat_template_kwargs",
    "continue_final_message",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "response_format",
    "temperature",
    "top_logprobs",
];

/// The parameter that the body names: under `error.param`, else the first in its words.
///
/// A prompt that is longer than the model's context is refused with a message that names parameters
/// as well, so such a message counts as naming none.
pub(crate) fn parameter(body: &[u8]) -> Option<&'static str> {
    let body = String::from_utf8_lossy(body);
    if body.contains("context length") || body.contains("context_length") {
        return None;
    }
    named_by_key(body.as_bytes()).or_else(|| {
        body.split(|char: char| char != '_' && !char.is_ascii_alphanumeric())
            .find_map(known)
    })
}

fn named_by_key(body: &[u8]) -> Option<&'static str> {
    let reply: RefusalJson<'_> = object(body)?;
    let error: RefusalErrorJson<'_> = nested(reply.error?)?;
    known(&string(error.param?)?)
}

fn known(word: &str) -> Option<&'static str> {
    PARAMETERS.into_iter().find(|parameter| *parameter == word)
}

#[derive(Deserialize)]
struct RefusalJson<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RefusalErrorJson<'a> {
    #[serde(borrow)]
    param: Option<&'a RawValue>,
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
            (
                "maximum context length is 4096, max_tokens is too large",
                None,
            ),
            ("my_logprobs", None),
            (r#"{"error":{"message":"no","param":"messages"}}"#, None),
            ("", None),
        ] {
            assert_eq!(parameter(body.as_bytes()), expected, "{body}");
        }
    }
}
