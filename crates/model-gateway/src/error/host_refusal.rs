//! Recognises refusals that waiting does not mend: two of hosted models, because the account's
//! credit or quota is used up, or because a filter withholds the answer to this text; and one
//! because a request has too much of something: tokens, questions or options.
//!
//! The tables hold the words of hosts and gateways, in lower case. Their sources are in
//! `docs/COMPATIBILITY.md`.

use std::ops::RangeInclusive;
use std::time::Duration;

/// A refusal of the host, whatever the request asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostRefusal {
    /// The account has no credit or quota left.
    CreditUsedUp,
    /// A filter withheld the answer to this text.
    Withheld,
}

/// Codes of used-up credit. They decide, whatever else the message says.
const CREDIT_CODES: [&str; 12] = [
    "accountoverdue",
    "arrearage",
    "billing_",
    "budget_exceeded",
    "credit_balance",
    "exceeded_current_quota",
    "freetieronly",
    "insufficient_balance",
    "insufficient_credit",
    "insufficient_quota",
    "payment_required",
    // Google's names of quotas, such as GenerateRequestsPerDayPerProjectPerModel
    "perday",
];
/// Phrases for used-up credit. Google and gateways use some of them for a rate too, and then name a
/// wait.
const CREDIT_PHRASES: [&str; 28] = [
    "account is in good standing",
    "account balance",
    "add credits",
    "budget has been exceeded",
    "credit balance",
    "credit limit",
    "credits exhausted",
    "credits remaining",
    "daily free allocation",
    "daily limit",
    "daily quota",
    "exceeded your current quota",
    "free-models-per-day",
    "insufficient balance",
    "insufficient credit",
    "insufficient quota",
    "more credits",
    "monthly included credits",
    "monthly limit",
    "negative balance",
    "out of credits",
    "purchase credits",
    "reached your specified api usage limits",
    "requests per day",
    "spend limit",
    "spending limit",
    "tokens per day",
    "余额不足",
];
/// How long a wait of a 429 is no pause but the end of a quota. A longer one is a date by mistake;
/// a shorter one may be a clock that is an hour off.
const QUOTA_WAITS: RangeInclusive<Duration> =
    Duration::from_hours(2)..=Duration::from_hours(40 * 24);

/// Codes and phrases of filters.
const FILTER_WORDS: [&str; 23] = [
    "blocked due to security configurations",
    "considered high risk",
    "content_blocked",
    "content_filter",
    "content_policy",
    "content exists risk",
    "content management polic",
    "content policy",
    "contentfilter",
    "contentpolicy",
    "data_inspection_failed",
    "datainspectionfailed",
    "flagged as potentially violating",
    "guardrail",
    "inappropriate content",
    "input was flagged",
    "new_sensitive",
    "prohibited_content",
    "responsibleaipolicy",
    "safety_check",
    "sensitive content",
    "violates usage guidelines",
    "敏感",
];

/// What the host says about its account or the text. `subject` is the message with its codes in
/// lower case, `wait` the time that the host asks for.
pub(super) fn host_refusal(
    status: u16,
    subject: &str,
    wait: Option<Duration>,
) -> Option<HostRefusal> {
    let has_one_of = |words: &[&str]| words.iter().any(|words| subject.contains(words));
    if status == 402 || has_one_of(&CREDIT_CODES) {
        return Some(HostRefusal::CreditUsedUp);
    }
    if status == 429 && wait.is_some_and(|wait| QUOTA_WAITS.contains(&wait)) {
        return Some(HostRefusal::CreditUsedUp);
    }
    let is_rate =
        wait.is_some_and(|wait| wait < *QUOTA_WAITS.start()) || subject.contains("perminute");
    if status <= 500 && !is_rate && has_one_of(&CREDIT_PHRASES) {
        return Some(HostRefusal::CreditUsedUp);
    }
    let may_be_filter = status == 500 || status < 500 && status != 429;
    (may_be_filter && has_one_of(&FILTER_WORDS)).then_some(HostRefusal::Withheld)
}

/// What a request has too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// More tokens than the model's context.
    Tokens,
    /// More questions than the server takes in one request; it takes this many, if it says so.
    Questions(Option<usize>),
    /// A question with more options or levels than the server takes.
    Options,
}

/// Codes and phrases for a request with more tokens than the model's context, in the words of hosts
/// and servers. Their sources are in `docs/COMPATIBILITY.md`.
const CONTEXT_PHRASES: [&str; 42] = [
    "context length",
    "context limit",
    "context size",
    "context the overflows",
    "context window",
    "context_length",
    "context_size",
    "context_window",
    "contextwindow",
    "exceeds max length",
    "input is too long",
    "input too long",
    "inputs` must have",
    "longer than the maximum",
    "max_input_len",
    "max_model_len",
    "max_new_tokens` must be",
    "max_num_tokens",
    "max_seq_len",
    "max_tokens_exceeded",
    "maximum allowed input length",
    "maximum allowed length",
    "maximum context",
    "maximum input length",
    "maximum model length",
    "maximum number of tokens",
    "maximum prompt length",
    "messages is too long",
    "model only supports up to",
    "model token limit",
    "payload too large",
    "prompt is too long",
    "prompt token count",
    "prompt too long",
    "range of input length",
    "reduce the length of",
    "request too large",
    "request_too_large",
    "string_above_max_length",
    "tokens_limit_reached",
    "too large to process",
    "too many tokens",
];
/// Names of the outcomes of a question.
const OPTION_WORDS: [&str; 5] = ["choices", "criteria", "options", "levels", "outcomes"];
/// Phrases for a number over a limit. The limit may follow the phrase.
const LIMIT_PHRASES: [&str; 10] = [
    "at most ",
    "limit is ",
    "limit of ",
    "max ",
    "maximum is ",
    "maximum of ",
    "more than ",
    "must have ",
    "too many ",
    "up to ",
];

/// What a message in lower case says that the request has too much of.
pub(super) fn excess(message: &str) -> Option<Excess> {
    let has_one_of = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    // Bedrock's words for a rate are `Too many tokens, please wait`
    if has_one_of(&CONTEXT_PHRASES) && !message.contains("please wait") {
        return Some(Excess::Tokens);
    }
    if !has_one_of(&LIMIT_PHRASES) {
        return None;
    }
    // only a list of outcomes needs two entries
    let is_about_options = has_one_of(&OPTION_WORDS) || message.contains("must have 2 to ");
    if message.contains("too many questions") || message.contains("question") && !is_about_options {
        return Some(Excess::Questions(limit(message)));
    }
    is_about_options.then_some(Excess::Options)
}

/// The first number that follows a phrase for a limit; of a range, its end.
fn limit(message: &str) -> Option<usize> {
    let places = LIMIT_PHRASES.iter().flat_map(|phrase| {
        let found = message.match_indices(phrase);
        found.map(|(start, phrase)| start + phrase.len())
    });
    let numbers = places.filter_map(|place| {
        let (first, behind) = number(message.get(place..)?)?;
        let end = behind.strip_prefix(" to ").and_then(number);
        Some((place, end.map_or(first, |(end, _)| end)))
    });
    let (_, limit) = numbers.min()?;
    (limit > 0).then_some(limit)
}

/// The number at the beginning of a text, and what follows it.
fn number(text: &str) -> Option<(usize, &str)> {
    let behind = text.trim_start_matches(|char: char| char.is_ascii_digit());
    let digits = text.strip_suffix(behind)?;
    Some((digits.parse().ok()?, behind))
}

#[cfg(test)]
mod tests;
