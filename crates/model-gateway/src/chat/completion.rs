//! Reads a chat completion: the tokens of the answer, and the alternatives at each position.
//!
//! Servers differ. Bytes may be missing, a list of alternatives may lack the written token or hold
//! it twice, and the logarithm of 0 is spelled in several ways.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::ModelFailure;
use crate::json::{count, is_error, nested, number, object, string};
use crate::report::ReportedUsage;

/// A chat completion.
pub(crate) struct Completion {
    /// Empty where the server sent no log-probabilities.
    pub(crate) positions: Vec<TokenPosition>,
    /// The text of the answer.
    pub(crate) content: Option<String>,
    pub(crate) usage: ReportedUsage,
}

/// One token of the answer, with its alternatives.
#[cfg_attr(test, derive(Debug))]
pub(crate) struct TokenPosition {
    pub(crate) written: AnswerToken,
    /// The alternatives that the server listed, without the written token.
    pub(crate) others: Vec<AnswerToken>,
}

#[cfg_attr(test, derive(Debug))]
pub(crate) struct AnswerToken {
    pub(crate) bytes: Vec<u8>,
    pub(crate) probability: f64,
}

/// Reads the body of an answer with status 200.
pub(crate) fn read(body: &[u8]) -> Result<Completion, ModelFailure> {
    read_strict(body).or_else(|failure| match with_finite_numbers(body) {
        Some(body) if failure == ModelFailure::NotChat => read_strict(&body),
        Some(_) | None => Err(failure),
    })
}

fn read_strict(body: &[u8]) -> Result<Completion, ModelFailure> {
    let reply: CompletionJson<'_> = object(body).ok_or(ModelFailure::NotChat)?;
    let is_flat_error = reply.kind.and_then(string).as_deref() == Some("error");
    if reply.error.is_some_and(is_error) || is_flat_error {
        return Err(ModelFailure::ReportedError);
    }
    let choices: Vec<&RawValue> = reply
        .choices
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .ok_or(ModelFailure::NotChat)?;
    let choice: CompletionChoiceJson<'_> = choices
        .first()
        .and_then(|raw| object(raw.get().as_bytes()))
        .ok_or(ModelFailure::NotChat)?;
    if choice.error.is_some_and(is_error) {
        return Err(ModelFailure::ReportedError);
    }
    let message: MessageJson<'_> = choice.message.and_then(nested).unwrap_or_default();
    let logprobs: LogprobsJson<'_> = choice.logprobs.and_then(nested).unwrap_or_default();
    let usage: CompletionUsageJson<'_> = reply.usage.and_then(nested).unwrap_or_default();
    Ok(Completion {
        positions: list(logprobs.content)
            .into_iter()
            .filter_map(position)
            .collect(),
        content: message.content.and_then(string).map(Cow::into_owned),
        usage: ReportedUsage {
            model: reply.model.and_then(string).map(Cow::into_owned),
            input_tokens: usage.prompt_tokens.and_then(count),
            output_tokens: usage.completion_tokens.and_then(count),
        },
    })
}

fn position(raw: &RawValue) -> Option<TokenPosition> {
    let json: TokenJson<'_> = nested(raw)?;
    let written = token(&json)?;
    let mut listed: Vec<AnswerToken> = Vec::new();
    for alternative in list(json.top_logprobs) {
        let Some(other) = nested(alternative).and_then(|json| token(&json)) else {
            continue;
        };
        // different tokens may have equal bytes; a token that is listed twice has one number
        let is_listed = listed
            .iter()
            .any(|known| known.bytes == other.bytes && is_alike(known, &other));
        if !is_listed {
            listed.push(other);
        }
    }
    let own = listed
        .iter()
        .position(|other| other.bytes == written.bytes && is_alike(other, &written))
        .or_else(|| listed.iter().position(|other| other.bytes == written.bytes));
    if let Some(own) = own {
        listed.remove(own);
    }
    Some(TokenPosition {
        written,
        others: listed,
    })
}

fn is_alike(one: &AnswerToken, other: &AnswerToken) -> bool {
    (one.probability - other.probability).abs() < 1e-9
}

fn token(json: &TokenJson<'_>) -> Option<AnswerToken> {
    let text = json.token.and_then(string);
    let bytes: Option<Vec<u8>> = json
        .bytes
        .and_then(|raw| serde_json::from_str(raw.get()).ok());
    let bytes = match (bytes, text) {
        (Some(bytes), _) if !bytes.is_empty() => bytes,
        (Some(_) | None, Some(text)) => plain(&text).into_bytes(),
        (Some(_) | None, None) => return None,
    };
    let logarithm = json.logprob.and_then(number).unwrap_or(f64::NEG_INFINITY);
    Some(AnswerToken {
        bytes,
        probability: logarithm.min(0.0).exp(),
    })
}

/// The text of a token whose white space is sent as the marks that vocabularies use for it.
fn plain(token: &str) -> String {
    token.replace(['Ġ', '▁'], " ").replace('Ċ', "\n")
}

/// The body with `Infinity` and `NaN`, which Python writes, replaced by values that JSON has.
fn with_finite_numbers(body: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body).ok()?;
    if !text.contains("Infinity") && !text.contains("NaN") {
        return None;
    }
    let finite = text
        .replace("-Infinity", "-9999")
        .replace("Infinity", "9999")
        .replace("NaN", "null");
    Some(finite.into_bytes())
}

fn list(raw: Option<&RawValue>) -> Vec<&RawValue> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

#[derive(Deserialize)]
struct CompletionJson<'a> {
    #[serde(borrow)]
    choices: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow, rename = "object")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CompletionChoiceJson<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    logprobs: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct MessageJson<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct LogprobsJson<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct CompletionUsageJson<'a> {
    #[serde(borrow)]
    prompt_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    completion_tokens: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TokenJson<'a> {
    #[serde(borrow)]
    token: Option<&'a RawValue>,
    #[serde(borrow)]
    bytes: Option<&'a RawValue>,
    #[serde(borrow)]
    logprob: Option<&'a RawValue>,
    #[serde(borrow)]
    top_logprobs: Option<&'a RawValue>,
}
