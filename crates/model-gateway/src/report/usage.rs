//! Model name, tokens and cost in one answer of a server.

use refract_domain::result::Cost;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{JsonObject, count, nested, object, string};

/// Length in characters at which a model name is cut, since every result stores it.
const MODEL_NAME_CHARS: usize = 200;
/// No request has as many tokens as this: such a count is a mistake of the server.
const IMPLAUSIBLE_TOKENS: u64 = 1_000_000_000;

/// What one answer of a server reports about its request.
#[derive(Debug, Default)]
pub(crate) struct ReportedUsage {
    pub(crate) model: Option<String>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) cached_tokens: Option<u64>,
    /// Tokens that the server put into its cache, where it does not count them as read.
    pub(crate) newly_cached_tokens: Option<u64>,
    /// Whether the server does not count the tokens from its cache as read.
    pub(crate) is_cache_apart: bool,
    pub(crate) output_tokens: Option<u64>,
    pub(crate) cost: Option<Cost>,
}

impl ReportedUsage {
    /// Reads the values of `model` and `usage`. Formats of typed questions count input and output
    /// tokens, chat completions count prompt and completion tokens. Tokens from a cache have a name
    /// of each host's own.
    pub(crate) fn read(model: Option<&RawValue>, usage: Option<&RawValue>) -> Self {
        let usage: UsageJson<'_> = usage.and_then(nested).unwrap_or_default();
        let input = usage.input_tokens.or(usage.prompt_tokens);
        let input = input.or(usage.total_input_tokens);
        let output = usage.output_tokens.or(usage.completion_tokens);
        let output = output.or(usage.total_output_tokens);
        let details = [usage.input_tokens_details, usage.prompt_tokens_details];
        let details = details.into_iter().flatten();
        let in_details =
            details.filter_map(|raw| nested::<TokenDetailsJson<'_>>(raw)?.cached_tokens);
        let cached = [
            usage.cached_tokens,
            usage.cached_input_tokens,
            usage.total_cached_tokens,
            usage.cache_read_input_tokens,
        ];
        let mut cached = cached.into_iter().flatten().chain(in_details);
        Self {
            model: model.and_then(string).as_deref().and_then(kept_name),
            input_tokens: input.and_then(tokens),
            cached_tokens: cached.find_map(tokens),
            is_cache_apart: usage.cache_read_input_tokens.is_some(),
            newly_cached_tokens: usage.cache_creation_input_tokens.and_then(tokens),
            output_tokens: output.and_then(tokens),
            cost: usage.cost.and_then(cost),
        }
    }

    /// Reads the values of the body of an answer, of any protocol. A host may wrap the answer.
    pub(crate) fn in_body(body: &[u8]) -> Self {
        let answer: JsonObject<'_> = object(body).unwrap_or_default();
        let mut wrapped = ["result", "response"].into_iter();
        let wrapped = wrapped.find_map(|key| nested::<JsonObject<'_>>(answer.get(key)?));
        let value = |key| answer.get(key).or_else(|| wrapped.as_ref()?.get(key));
        Self::read(value("model"), value("usage"))
    }

    /// The tokens that the server read and did not have in its cache; `None` if it reports none.
    pub(crate) fn uncached_tokens(&self) -> Option<u64> {
        let cached = self.cached_tokens.unwrap_or(0);
        let read = self.input_tokens?;
        Some(if self.is_cache_apart {
            read.saturating_add(self.newly_cached_tokens.unwrap_or(0))
        } else {
            read.saturating_sub(cached)
        })
    }

    /// The tokens that the server read, whether or not it counts those of its cache among them. At
    /// most twice as many as it read; `None` if it reports none.
    pub(crate) fn read_tokens(&self) -> Option<u64> {
        let counts = [
            self.input_tokens,
            self.cached_tokens,
            self.newly_cached_tokens,
        ];
        let read: u64 = counts.into_iter().flatten().sum();
        (read > 0).then_some(read)
    }

    /// The tokens that the server read afresh. `None` if it did not count what it read.
    pub(crate) fn fresh_tokens(&self) -> Option<u64> {
        let input = self.input_tokens?;
        let cached = self.cached_tokens.filter(|_| !self.is_cache_apart);
        Some(input.saturating_sub(cached.unwrap_or_default()))
    }
}

#[derive(Default, Deserialize)]
struct UsageJson<'a> {
    #[serde(borrow)]
    input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    output_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    completion_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    cached_tokens: Option<&'a RawValue>,
    /// Fireworks.
    #[serde(borrow)]
    cached_input_tokens: Option<&'a RawValue>,
    /// Gemini.
    #[serde(borrow)]
    total_input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    total_output_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    total_cached_tokens: Option<&'a RawValue>,
    /// Anthropic.
    #[serde(borrow)]
    cache_read_input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    cache_creation_input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    input_tokens_details: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt_tokens_details: Option<&'a RawValue>,
    /// `OpenRouter` and `LiteLLM`.
    #[serde(borrow)]
    cost: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TokenDetailsJson<'a> {
    #[serde(borrow)]
    cached_tokens: Option<&'a RawValue>,
}

fn tokens(raw: &RawValue) -> Option<u64> {
    count(raw).filter(|tokens| *tokens < IMPLAUSIBLE_TOKENS)
}

/// Reads a cost, a number or a text with one.
fn cost(raw: &RawValue) -> Option<Cost> {
    match string(raw) {
        Some(text) => Cost::parse(&text),
        None => Cost::parse(raw.get()),
    }
}

/// The model name without characters that cannot be stored or shown: databases refuse NUL, and
/// control characters would reach a terminal.
pub(crate) fn kept_name(name: &str) -> Option<String> {
    let printable = name.chars().filter(|char| !char.is_control());
    let kept: String = printable.take(MODEL_NAME_CHARS).collect();
    (!kept.trim().is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests;
