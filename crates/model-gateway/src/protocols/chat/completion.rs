//! Reads a chat completion: the tokens of the answer, the alternatives at each position, and where the
//! model's thinking ends.
//!
//! Servers differ. Bytes may be missing, a list of alternatives may lack the written token or
//! contain it twice, the written token may have its probability there alone, the logarithm of 0 has
//! several spellings, and a token may be half a character.

use std::borrow::Cow;

use refract_domain::key::QuestionKey;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::event_stream;
use crate::error::ModelError;
use crate::json::{
    JsonObject, Lenient, ObjectFields, TokenBytes, count, is_error, list, nested, object, readable,
    string,
};
use crate::report::ReportedUsage;

/// Largest logarithm that is a probability of 1 with a rounding error. Numbers above it are none of
/// probabilities: some servers list the probabilities themselves.
const MOST_LOGARITHM: f64 = 0.01;
/// Two listed probabilities with a smaller difference belong to one token.
const SAME_PROBABILITY: f64 = 1e-9;

/// A chat completion.
pub(crate) struct Completion {
    /// Empty where the server sent no log-probabilities.
    pub(crate) positions: Vec<TokenPosition>,
    /// The text of the answer.
    pub(crate) content: Option<String>,
    /// What kept the answer back, if anything did.
    pub(crate) withheld: Option<WithheldBy>,
    /// Whether the answer ended before the model's thinking did.
    pub(crate) is_thinking: bool,
    /// Whether the model might have written more: it did not end the answer itself.
    pub(crate) is_cut: bool,
    pub(crate) usage: ReportedUsage,
    /// Whether the completion has members that only llama.cpp's server sends.
    pub(crate) is_from_llama_cpp: bool,
}

/// What kept an answer back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithheldBy {
    /// A content filter of the host.
    Filter,
    /// The model, in its field for refusals.
    Model,
}

impl WithheldBy {
    /// The failure of a question without an answer.
    pub(crate) fn failure(self, question: &QuestionKey) -> ModelError {
        match self {
            Self::Filter => ModelError::Withheld,
            Self::Model => ModelError::Refused(question.clone()),
        }
    }
}

/// One token of the answer, with its alternatives.
#[cfg_attr(test, derive(Debug))]
pub(crate) struct TokenPosition {
    pub(crate) written: AnswerToken,
    /// The listed alternatives, without the written token.
    pub(crate) others: Vec<AnswerToken>,
    /// Whether the alternatives are the tokens named in the request, whatever their rank, instead
    /// of the most probable ones.
    pub(crate) is_selection: bool,
    /// Whether the server calls the written token certain and lists nothing, not even that token: so
    /// servers write a probability that they do not know.
    pub(crate) is_bare: bool,
}

impl TokenPosition {
    /// Whether the server says how probable the written token was. What the model chose has a
    /// probability.
    pub(crate) fn is_known(&self) -> bool {
        self.written.probability > 0.0 && !self.is_bare
    }
}

#[cfg_attr(test, derive(Debug))]
pub(crate) struct AnswerToken {
    pub(crate) bytes: TokenBytes,
    pub(crate) probability: f64,
}

/// Reads the body of an answer with status 200.
pub(crate) fn read(body: &[u8]) -> Result<Completion, ModelError> {
    read_strict(body).or_else(|failure| {
        let other = readable(body).or_else(|| event_stream::completion(body));
        match other {
            Some(body) if failure == ModelError::NotChat => read_strict(&body),
            Some(_) | None => Err(failure),
        }
    })
}

fn read_strict(body: &[u8]) -> Result<Completion, ModelError> {
    let reply: CompletionJson<'_> = object(body).ok_or(ModelError::NotChat)?;
    let is_flat_error = reply.kind.and_then(string).as_deref() == Some("error");
    if reply.error.is_some_and(is_error) || is_flat_error {
        return Err(ModelError::ReportedError);
    }
    let choice = reply.choices.0.and_then(|list| list.into_iter().next()?.0);
    let choice = choice.ok_or(ModelError::NotChat)?;
    if choice.error.is_some_and(is_error) {
        return Err(ModelError::ReportedError);
    }
    let message = choice.message.0.unwrap_or_default();
    let logprobs = choice.logprobs.0.unwrap_or_default();
    let content = message.content.and_then(text_of_content);
    let refusal = message.refusal.and_then(string).unwrap_or_default();
    let thoughts = message.reasoning_content.or(message.reasoning);
    let finish = choice.finish_reason.and_then(string);
    let has_stopped = finish.as_deref() == Some("stop");
    let withheld = if finish.as_deref().is_some_and(is_of_filter) {
        Some(WithheldBy::Filter)
    } else {
        (!refusal.trim().is_empty()).then_some(WithheldBy::Model)
    };
    let mut usage = ReportedUsage::read(reply.model, reply.usage);
    let timings: Option<JsonObject<'_>> = reply.timings.and_then(nested);
    if let Some(timings) = &timings {
        let tokens = |key| timings.get(key).and_then(count);
        let others = || Some(usage.input_tokens?.saturating_sub(tokens("prompt_n")?));
        usage.cached_tokens = usage
            .cached_tokens
            .or_else(|| tokens("cache_n").or_else(others));
    }
    Ok(Completion {
        is_thinking: is_unfinished(
            content.as_deref().unwrap_or_default(),
            &thoughts.and_then(string).unwrap_or_default(),
            has_stopped,
        ),
        withheld,
        is_cut: !has_stopped,
        positions: positions(logprobs.content),
        content,
        usage,
        is_from_llama_cpp: timings.is_some()
            && reply.system_fingerprint.is_some_and(is_llama_cpp_build),
    })
}

/// Whether an answer ended because of a content filter. Google writes its reason behind the name.
fn is_of_filter(finish: &str) -> bool {
    const REASONS: [&str; 8] = [
        "content_filter",
        "guardrail",
        "blocklist",
        "prohibited_content",
        "refusal",
        "safety",
        "sensitive",
        "spii",
    ];
    let finish = finish.to_ascii_lowercase();
    REASONS.iter().any(|reason| finish.starts_with(reason))
}

/// The text of a message: its content, or the parts of text in it. Mistral and Databricks list the
/// thinking of a model as parts of another type.
fn text_of_content(content: &RawValue) -> Option<String> {
    if let Some(text) = string(content) {
        return Some(text.into_owned());
    }
    let parts = list(content)?.into_iter();
    let texts = parts.filter_map(|part| string(nested::<ContentPartJson<'_>>(part)?.text?));
    Some(texts.collect())
}

/// Whether a fingerprint is a build of llama.cpp, such as `b6123-0a1b2c3`.
fn is_llama_cpp_build(raw: &RawValue) -> bool {
    let number = raw.get().strip_prefix("\"b");
    number.is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit()))
}

/// Reads the tokens of an answer. Tokens without bytes and text are ignored. Empty if the numbers
/// are no log-probabilities, or none of them is known.
pub(super) fn positions(tokens: LenientTokens<'_>) -> Vec<TokenPosition> {
    let tokens = tokens.0.into_iter().flatten();
    let positions: Vec<TokenPosition> = tokens.filter_map(|json| position(json.0?)).collect();
    let is_probability = |token: &AnswerToken| token.probability <= 1.0;
    let are_probabilities = |position: &TokenPosition| {
        is_probability(&position.written) && position.others.iter().all(is_probability)
    };
    let is_bare = positions.iter().all(|position| position.is_bare);
    if !is_bare && positions.iter().all(are_probabilities) {
        positions
    } else {
        Vec::new()
    }
}

fn position(mut json: TokenJson<'_>) -> Option<TokenPosition> {
    let alternatives = json.top_logprobs.0.take().unwrap_or_default();
    let is_bare = alternatives.is_empty() && json.logprob.0 == Some(0.0);
    let mut written = json.token()?;
    let mut listed: Vec<AnswerToken> = Vec::with_capacity(alternatives.len());
    let mut least = f64::INFINITY;
    for other in alternatives.into_iter().filter_map(|json| json.0?.token()) {
        // different tokens may have equal bytes; a token that is listed twice has one probability
        let is_below_all = other.probability < least - SAME_PROBABILITY;
        if is_below_all || !listed.iter().any(|known| is_alike(known, &other)) {
            least = least.min(other.probability);
            listed.push(other);
        }
    }
    let own = listed
        .iter()
        .position(|other| is_alike(other, &written))
        .or_else(|| listed.iter().position(|other| other.bytes == written.bytes));
    if let Some(own) = own {
        let listed = listed.remove(own);
        // where the token itself has none
        if written.probability <= 0.0 {
            written = listed;
        }
    }
    Some(TokenPosition {
        written,
        others: listed,
        is_selection: false,
        is_bare,
    })
}

fn is_alike(one: &AnswerToken, other: &AnswerToken) -> bool {
    (one.probability - other.probability).abs() < SAME_PROBABILITY && one.bytes == other.bytes
}

/// The bytes of a token in a vocabulary's notation: with placeholders for white space, or as one
/// byte such as `<0x42>`.
pub(super) fn text_bytes(token: &str) -> Vec<u8> {
    let byte = token
        .strip_prefix("<0x")
        .and_then(|name| name.strip_suffix('>'));
    match byte.map(|name| u8::from_str_radix(name, 16)) {
        Some(Ok(byte)) => vec![byte],
        Some(Err(_)) | None => token
            .replace(['Ġ', '▁'], " ")
            .replace('Ċ', "\n")
            .into_bytes(),
    }
}

/// Tokens as servers write them.
pub(super) type LenientTokens<'a> = Lenient<Vec<Lenient<TokenJson<'a>>>>;

#[derive(Deserialize)]
struct CompletionJson<'a> {
    #[serde(borrow, default)]
    choices: Lenient<Vec<Lenient<CompletionChoiceJson<'a>>>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow, rename = "object")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    system_fingerprint: Option<&'a RawValue>,
    #[serde(borrow)]
    timings: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CompletionChoiceJson<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    finish_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    logprobs: Lenient<LogprobsJson<'a>>,
    #[serde(borrow, default)]
    message: Lenient<MessageJson<'a>>,
}

#[derive(Default, Deserialize)]
struct MessageJson<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ContentPartJson<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct LogprobsJson<'a> {
    #[serde(borrow, default)]
    content: LenientTokens<'a>,
}

/// One token of an answer, or an alternative to it. Alternatives have no alternatives.
#[derive(Deserialize)]
pub(super) struct TokenJson<'a> {
    #[serde(borrow, default)]
    token: Lenient<Cow<'a, str>>,
    #[serde(default)]
    bytes: Lenient<TokenBytes>,
    #[serde(default)]
    logprob: Lenient<f64>,
    #[serde(borrow, default)]
    top_logprobs: LenientTokens<'a>,
}

impl<'de: 'a, 'a> ObjectFields<'de> for CompletionChoiceJson<'a> {}
impl<'de: 'a, 'a> ObjectFields<'de> for MessageJson<'a> {}
impl<'de: 'a, 'a> ObjectFields<'de> for LogprobsJson<'a> {}
impl<'de: 'a, 'a> ObjectFields<'de> for TokenJson<'a> {}

impl TokenJson<'_> {
    fn token(self) -> Option<AnswerToken> {
        let bytes = self.bytes.0.filter(|bytes| !bytes.is_empty());
        let bytes = bytes.or_else(|| self.token.0.map(|text| text_bytes(&text).into()))?;
        let logarithm = self.logprob.0.unwrap_or(f64::NEG_INFINITY);
        Some(AnswerToken {
            bytes,
            // above 1 if the number is no logarithm of a probability
            probability: if logarithm > MOST_LOGARITHM {
                logarithm.exp()
            } else {
                logarithm.min(0.0).exp()
            },
        })
    }
}

/// Position of the answer after the thinking; `None` if the thinking does not end.
pub(super) fn after_thinking(text: &[u8]) -> Option<usize> {
    const BEGIN: &[u8] = b"<think>";
    const END: &[u8] = b"</think>";
    match text.windows(END.len()).rposition(|bytes| bytes == END) {
        Some(at) => Some(at + END.len()),
        None => (!text.trim_ascii_start().starts_with(BEGIN)).then_some(0),
    }
}

/// Whether an answer ended during the thinking: in a block without an end, or with separate
/// thoughts and no other words. If the model stopped by itself, separate thoughts are the answer:
/// some servers put every word there.
pub(super) fn is_unfinished(content: &str, thoughts: &str, has_stopped: bool) -> bool {
    let has_thoughts_alone = content.trim().is_empty() && !thoughts.trim().is_empty();
    after_thinking(content.as_bytes()).is_none() || has_thoughts_alone && !has_stopped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_unfinished_without_an_end_or_without_an_answer() {
        for (content, thoughts, has_stopped, expected) in [
            ("yes", "", true, false),
            ("yes", "It is.", false, false),
            ("<think>\nIt is", "", false, true),
            ("<think></think>yes", "", false, false),
            ("<think>It is.</think>", "", false, false),
            ("\n", "It is", false, true),
            ("", "yes", true, false),
            ("", "", false, false),
        ] {
            let is = is_unfinished(content, thoughts, has_stopped);
            assert_eq!(is, expected, "{content:?} {thoughts:?} {has_stopped}");
        }
    }
}
