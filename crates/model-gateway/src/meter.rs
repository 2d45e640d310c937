//! What one call cost and what the server told about it, for logs, metrics and provenance.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// Beyond this a model's name is cut: it is kept with every result.
const MODEL_NAME_CHARS: usize = 200;

/// What is known of a call besides its answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallReport {
    /// The model that the server said it asked, up to 200 characters.
    pub model: Option<String>,
    /// Tokens read, over all requests, when the server told.
    pub input_tokens: Option<u64>,
    /// Tokens written, over all requests, when the server told.
    pub output_tokens: Option<u64>,
    /// Requests that the call was split into and that were begun.
    pub requests: u32,
    /// Attempts over all requests.
    pub attempts: u32,
}

/// What the answer to one request told beside its answers.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) model: Option<String>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
}

/// Watches one call, whose requests run side by side on one thread.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    first_attempt: Cell<Option<Instant>>,
    report: RefCell<CallReport>,
}

impl Meter {
    pub(crate) fn request_begins(&self) {
        self.report.borrow_mut().requests += 1;
    }

    pub(crate) fn attempt_begins(&self) {
        self.report.borrow_mut().attempts += 1;
        if self.first_attempt.get().is_none() {
            self.first_attempt.set(Some(Instant::now()));
        }
    }

    pub(crate) fn told(&self, told: &Told) {
        let mut report = self.report.borrow_mut();
        if report.model.is_none() {
            let name = told.model.as_deref();
            report.model = name.map(|name| name.chars().take(MODEL_NAME_CHARS).collect());
        }
        report.input_tokens = sum(report.input_tokens, told.input_tokens);
        report.output_tokens = sum(report.output_tokens, told.output_tokens);
    }

    /// From the start of the first attempt until now; nothing when there was none.
    pub(crate) fn took(&self) -> Duration {
        self.first_attempt
            .get()
            .map_or(Duration::ZERO, |begin| begin.elapsed())
    }

    pub(crate) fn into_report(self) -> CallReport {
        self.report.into_inner()
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (known, None) | (None, known) => known,
    }
}
