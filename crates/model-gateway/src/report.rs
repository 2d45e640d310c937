//! Counts of requests, attempts and tokens of one submission, for logs, metrics and provenance, and how
//! much of an answer consists of the server's own numbers. That coverage helps to judge a server; no
//! answer depends on it.
//!
//! Notices texts that a server cut without an error, by its own count of tokens.
//!
//! Servers that cut a text to the model's context answer as if nothing had happened (Ollama does).
//! They then report about as many tokens as the context has, and the text shows that there must
//! have been more.
//!
//! The bound is ten characters a token, where ordinary tokenizers need at most six: four for
//! English, five for long words, one or two for Chinese or Japanese. Only tokens that join several
//! words come near seven. Runs of spaces, of punctuation and of one character can be single tokens,
//! so each counts as one character. A text with fewer than a thousand estimated tokens is not
//! judged: it fits every context. A count of 0 is none, since servers that do not count send it.

pub(crate) mod usage;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use bytes::Bytes;
use refract_domain::answer::Probability;
use refract_domain::limits::CHARS_PER_TOKEN;
use refract_domain::prism::PrismVersion;
use refract_domain::result::Cost;
use refract_domain::submission::Submission;

use crate::connection::reply::ReplyHead;
use crate::settings::ModelPrices;

pub(crate) use self::usage::ReportedUsage;

/// How the model was asked about one submission. After a failure, it holds what was known until
/// then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReport {
    /// `systemone`, `decisions`, `gemini`, `chat` or `stated`; `lexical` for the built-in scorer.
    pub protocol: &'static str,
    /// The version of the requests' prompts: [`PROMPT_VERSION`](crate::PROMPT_VERSION), or that of
    /// the protocol's [`ChatPrompt`](crate::ChatPrompt). `None` for the built-in scorer.
    pub prompt_version: Option<i32>,
    /// The model's name as the server sent it, up to 200 characters.
    pub model: Option<String>,
    /// Tokens read over all requests, where the server sent them.
    pub input_tokens: Option<u64>,
    /// Tokens that the server had in its cache, over all requests, where it sent them. Most servers
    /// count them among the tokens read.
    pub cached_tokens: Option<u64>,
    /// Tokens that the server put into its cache, over all requests, where it does not count them
    /// among the tokens read.
    pub cache_written_tokens: Option<u64>,
    /// Tokens written over all requests, where the server sent them.
    pub output_tokens: Option<u64>,
    /// The cost of all requests, where the host sent one or the tokens have a price.
    pub cost: Option<Cost>,
    /// The host's id of the last request, which is the one that failed after a failure: printable
    /// ASCII, up to 200 characters. `None` if its answer had none.
    pub host_request_id: Option<String>,
    /// The tokens that the server read of a text that has far more: it cut the text without an
    /// error. `None` if no text is known to have been cut.
    pub truncated_to: Option<u64>,
    /// Requests that were begun.
    pub requests: u32,
    /// Attempts over all requests.
    pub attempts: u32,
    /// How many outcomes had a probability from the server.
    pub parsed: ParsedOutcomes,
}

/// Collects a [`ModelReport`] while requests run concurrently on one thread.
pub(crate) struct ReportRecorder {
    first_attempt: Cell<Option<Instant>>,
    /// Boxed to keep a waiting call small.
    report: RefCell<Box<ModelReport>>,
    /// The body of the last answer, empty until one has come.
    last_body: RefCell<Bytes>,
    /// The cost in the head of the last answer, until its body is read: a cost in the body replaces
    /// it.
    cost_in_head: Cell<Option<Cost>>,
    /// The most tokens that a server reported to have read in one request.
    most_read: Cell<Option<u64>>,
    /// What tokens cost where the host does not say so.
    prices: Option<ModelPrices>,
}

impl ReportRecorder {
    pub(crate) fn new(
        protocol: &'static str,
        prompt_version: Option<i32>,
        prices: Option<ModelPrices>,
    ) -> Self {
        let report = ModelReport {
            protocol,
            prompt_version,
            model: None,
            input_tokens: None,
            cached_tokens: None,
            cache_written_tokens: None,
            output_tokens: None,
            cost: None,
            host_request_id: None,
            truncated_to: None,
            requests: 0,
            attempts: 0,
            parsed: ParsedOutcomes::default(),
        };
        Self {
            first_attempt: Cell::default(),
            report: RefCell::new(Box::new(report)),
            last_body: RefCell::default(),
            cost_in_head: Cell::default(),
            most_read: Cell::default(),
            prices,
        }
    }

    /// Records that the requests have a prompt of another version than the usual one.
    pub(crate) fn asks_by(&self, prompt_version: i32) {
        self.report.borrow_mut().prompt_version = Some(prompt_version);
    }

    pub(crate) fn request_begins(&self) {
        self.report.borrow_mut().requests += 1;
    }

    pub(crate) fn attempt_begins(&self) {
        self.report.borrow_mut().attempts += 1;
        self.last_body.take();
        self.start_clock();
    }

    /// Keeps what the head of an answer says; `None` for an attempt without an answer. A failing
    /// request is always the last one whose attempt ended.
    pub(crate) fn attempt_ended(&self, head: Option<Box<ReplyHead>>) {
        let (request_id, cost) = head.map_or((None, None), |head| (head.request_id, head.cost));
        let unread = self.cost_in_head.replace(cost);
        let mut report = self.report.borrow_mut();
        report.host_request_id = request_id;
        report.cost = sum_of_costs(report.cost, unread);
    }

    /// Keeps the body of an answer until the next attempt begins, to explain a failure: a failing
    /// request is always the last one answered.
    pub(crate) fn answered(&self, body: Bytes) {
        self.last_body.replace(body);
    }

    /// The body of the last answer.
    pub(crate) fn last_body(&self) -> Bytes {
        self.last_body.borrow().clone()
    }

    pub(crate) fn take_last_body(&self) -> Bytes {
        self.last_body.take()
    }

    /// Starts the clock at the first attempt; later attempts do not restart it.
    pub(crate) fn start_clock(&self) {
        if self.first_attempt.get().is_none() {
            self.first_attempt.set(Some(Instant::now()));
        }
    }

    pub(crate) fn add_usage(&self, usage: &ReportedUsage) {
        let mut report = self.report.borrow_mut();
        if report.model.is_none() {
            report.model.clone_from(&usage.model);
        }
        report.input_tokens = sum(report.input_tokens, usage.input_tokens);
        report.cached_tokens = sum(report.cached_tokens, usage.cached_tokens);
        report.cache_written_tokens = sum(report.cache_written_tokens, usage.newly_cached_tokens);
        report.output_tokens = sum(report.output_tokens, usage.output_tokens);
        if usage.cost.is_some() {
            self.cost_in_head.take();
        }
        let is_reported = usage.cost.is_some() || self.cost_in_head.get().is_some();
        let prices = self.prices.filter(|_| !is_reported);
        let cost = usage.cost.or_else(|| prices?.cost(usage));
        report.cost = sum_of_costs(report.cost, cost);
        self.most_read
            .set(self.most_read.get().max(usage.read_tokens()));
    }

    /// The most tokens that a server reported to have read in one request.
    pub(crate) fn most_read(&self) -> Option<u64> {
        self.most_read.get()
    }

    pub(crate) fn add_parsed(&self, parsed: ParsedOutcomes) {
        let mut report = self.report.borrow_mut();
        report.parsed = report.parsed.and(parsed);
    }

    /// Time since the start of the first attempt; zero without any.
    pub(crate) fn took(&self) -> Duration {
        self.first_attempt
            .get()
            .map_or(Duration::ZERO, |begin| begin.elapsed())
    }

    pub(crate) fn into_report(self) -> ModelReport {
        let report = *self.report.into_inner();
        ModelReport {
            cost: sum_of_costs(report.cost, self.cost_in_head.get()),
            ..report
        }
    }
}

fn sum_of_costs(one: Option<Cost>, other: Option<Cost>) -> Option<Cost> {
    let has_any = one.is_some() || other.is_some();
    has_any.then(|| one.into_iter().chain(other).sum())
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (known, None) | (None, known) => known,
    }
}

/// How many outcomes of the asked questions had a probability from the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParsedOutcomes {
    /// Number of outcomes of all questions that were read.
    pub outcomes: usize,
    /// Number of outcomes with a probability from the server. The others share the remaining
    /// probability; in the protocols `systemone`, `decisions` and `gemini` they have 0.
    pub listed: usize,
    /// Only in the protocol `chat`: how the codes of a question were found. The question is the one
    /// with the least probability on its codes, except for `unread`, which is the largest of all
    /// questions.
    pub codes: Option<ParsedCodes>,
}

/// How the codes of one question were found among the tokens of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedCodes {
    /// Sum of the probabilities read for codes, before normalisation.
    pub mass: Probability,
    /// Share of the codes' probability, from 0 to 1, that was not read but estimated or split
    /// evenly. The answer's total variation distance from the exact one is at most this, provided
    /// that both spellings of a letter, as `B` and ` B`, are followed by the same digits.
    pub unread: Probability,
    /// Number of tokens before the code: quotes, white space, thinking.
    pub tokens_before: usize,
    /// Number of tokens of the code; `None` if the answer does not begin with a code.
    pub tokens: Option<usize>,
}

impl ParsedOutcomes {
    /// The combined coverage of two questions or requests.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let both = || self.codes.into_iter().chain(other.codes);
        let unread = both().map(|codes| codes.unread).max().unwrap_or_default();
        let codes = both().min_by_key(|codes| codes.mass);
        Self {
            outcomes: self.outcomes + other.outcomes,
            listed: self.listed + other.listed,
            codes: codes.map(|codes| ParsedCodes { unread, ..codes }),
        }
    }
}

/// A server that reports fewer tokens than one for this many characters has cut the text.
const MOST_CHARS_PER_TOKEN: u64 = 10;
/// A text with fewer characters is not judged: a thousand estimated tokens.
const LEAST_CHARS: usize = 1_000 * CHARS_PER_TOKEN;

/// Returns `read`, the most tokens that a server reported for one request about a submission, if
/// these are too few for its texts: every request holds all of them.
pub(crate) fn truncated_to(
    read: Option<u64>,
    version: &PrismVersion,
    submission: &Submission,
) -> Option<u64> {
    let read = read.filter(|tokens| *tokens > 0)?;
    let holds = |chars: usize| read.saturating_mul(MOST_CHARS_PER_TOKEN) >= widened(chars);
    let fields = submission.fields().iter();
    let fields = fields.map(|(_, value)| value.as_str());
    let contexts = [version.context(), submission.context()];
    let texts = contexts.into_iter().flatten().chain(fields);
    // a text has at least as many bytes as characters, and bytes need no counting
    let bytes: usize = texts.clone().map(str::len).sum();
    if bytes < LEAST_CHARS || holds(bytes) {
        return None;
    }
    let chars: usize = texts.map(counted_chars).sum();
    (chars >= LEAST_CHARS && !holds(chars)).then_some(read)
}

/// Characters of a text, where a run of one character, of spaces or of punctuation counts once.
fn counted_chars(text: &str) -> usize {
    let mut chars = 0;
    let mut last = None;
    for char in text.chars() {
        let kind = Some(char).filter(|char| char.is_alphanumeric());
        if last != Some(kind) {
            chars += 1;
        }
        last = Some(kind);
    }
    chars
}

fn widened(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
