//! Counts of requests, attempts and tokens of one submission, for logs, metrics and provenance.

pub(crate) mod parsed;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{count, nested, string};
use crate::report::parsed::ParsedOutcomes;

/// Length in characters at which a model name is cut, since every result stores it.
const MODEL_NAME_CHARS: usize = 200;

/// How the model was asked about one submission. After a failure, it holds what was known until
/// then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReport {
    /// `systemone`, `decisions`, `gemini`, `chat` or `stated`; `lexical` for the built-in scorer.
    pub protocol: &'static str,
    /// The [`PROMPT_VERSION`](crate::PROMPT_VERSION) of the requests; `None` for the built-in
    /// scorer.
    pub prompt_version: Option<i32>,
    /// The model's name as the server sent it, up to 200 characters.
    pub model: Option<String>,
    /// Tokens read over all requests, where the server sent them.
    pub input_tokens: Option<u64>,
    /// Tokens written over all requests, where the server sent them.
    pub output_tokens: Option<u64>,
    /// Requests that were begun.
    pub requests: u32,
    /// Attempts over all requests.
    pub attempts: u32,
    /// How many outcomes had a probability from the server.
    pub parsed: ParsedOutcomes,
}

/// Model name and token counts in one answer of a server.
#[derive(Debug, Default)]
pub(crate) struct ReportedUsage {
    pub(crate) model: Option<String>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
}

impl ReportedUsage {
    /// Reads the values of `model` and `usage`. Formats of typed questions count input and output
    /// tokens, Google's counts them as totals, chat completions count prompt and completion tokens.
    pub(crate) fn read(model: Option<&RawValue>, usage: Option<&RawValue>) -> Self {
        let usage: UsageJson<'_> = usage.and_then(nested).unwrap_or_default();
        let input = usage.input_tokens.or(usage.prompt_tokens);
        let input = input.or(usage.total_input_tokens);
        let output = usage.output_tokens.or(usage.completion_tokens);
        let output = output.or(usage.total_output_tokens);
        Self {
            model: model.and_then(string).as_deref().and_then(kept_name),
            input_tokens: input.and_then(count),
            output_tokens: output.and_then(count),
        }
    }
}

#[derive(Default, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of three formats")]
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
    total_input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    total_output_tokens: Option<&'a RawValue>,
}

/// Collects a [`ModelReport`] while requests run concurrently on one thread.
pub(crate) struct ReportRecorder {
    first_attempt: Cell<Option<Instant>>,
    report: RefCell<ModelReport>,
    /// The body of the last answer, empty until one has come.
    last_body: RefCell<Bytes>,
}

impl ReportRecorder {
    pub(crate) fn new(protocol: &'static str, prompt_version: Option<i32>) -> Self {
        let report = ModelReport {
            protocol,
            prompt_version,
            model: None,
            input_tokens: None,
            output_tokens: None,
            requests: 0,
            attempts: 0,
            parsed: ParsedOutcomes::default(),
        };
        Self {
            first_attempt: Cell::default(),
            report: RefCell::new(report),
            last_body: RefCell::default(),
        }
    }

    pub(crate) fn request_begins(&self) {
        self.report.borrow_mut().requests += 1;
    }

    pub(crate) fn attempt_begins(&self) {
        self.report.borrow_mut().attempts += 1;
        self.last_body.take();
        self.start_clock();
    }

    /// Keeps the body of an answer until the next attempt begins, to explain a failure: a failing
    /// request is always the last one answered.
    pub(crate) fn answered(&self, body: Bytes) {
        self.last_body.replace(body);
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
        report.output_tokens = sum(report.output_tokens, usage.output_tokens);
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
        self.report.into_inner()
    }
}

/// The model name without characters that cannot be stored or shown: databases refuse NUL, and
/// control characters would reach a terminal.
pub(crate) fn kept_name(name: &str) -> Option<String> {
    let printable = name.chars().filter(|char| !char.is_control());
    let kept: String = printable.take(MODEL_NAME_CHARS).collect();
    (!kept.trim().is_empty()).then_some(kept)
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (known, None) | (None, known) => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_as_far_as_it_can_be_shown_and_saved() {
        for (sent, kept) in [
            ("jev-1.13.0", Some("jev-1.13.0".to_owned())),
            ("a\0b\u{1b}[1m\n", Some("ab[1m".to_owned())),
            (&"ü".repeat(300), Some("ü".repeat(200))),
            ("", None),
            (" \0", None),
        ] {
            assert_eq!(kept_name(sent), kept, "{sent:?}");
        }
    }
}
