//! What one call cost and what the server told about it, for logs, metrics and provenance.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use crate::seen::Seen;

/// Beyond this a model's name is cut: it is kept with every result.
const MODEL_NAME_CHARS: usize = 200;

/// What is known of a call besides its answers.
///
/// A call that failed tells what it had learned until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallReport {
    /// `systemone`, `chat` or `stated`; `lexical` for the embedded scorer.
    pub protocol: &'static str,
    /// Which [`PROMPT_VERSION`](crate::PROMPT_VERSION) asked; `None` for the embedded scorer.
    pub prompt_version: Option<i32>,
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
    /// What the server showed of the outcomes' probabilities.
    pub seen: Seen,
}

/// What the answer to one request told beside its answers.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) model: Option<String>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
}

/// Watches one call, whose requests run side by side on one thread.
#[derive(Debug)]
pub(crate) struct Meter {
    first_attempt: Cell<Option<Instant>>,
    report: RefCell<CallReport>,
}

impl Meter {
    pub(crate) fn new(protocol: &'static str, prompt_version: Option<i32>) -> Self {
        let report = CallReport {
            protocol,
            prompt_version,
            model: None,
            input_tokens: None,
            output_tokens: None,
            requests: 0,
            attempts: 0,
            seen: Seen::default(),
        };
        Self {
            first_attempt: Cell::default(),
            report: RefCell::new(report),
        }
    }

    pub(crate) fn request_begins(&self) {
        self.report.borrow_mut().requests += 1;
    }

    pub(crate) fn attempt_begins(&self) {
        self.report.borrow_mut().attempts += 1;
        self.clock_starts();
    }

    /// Starts the clock of the whole call, once.
    pub(crate) fn clock_starts(&self) {
        if self.first_attempt.get().is_none() {
            self.first_attempt.set(Some(Instant::now()));
        }
    }

    pub(crate) fn told(&self, told: &Told) {
        let mut report = self.report.borrow_mut();
        if report.model.is_none() {
            report.model = told.model.as_deref().and_then(kept_name);
        }
        report.input_tokens = sum(report.input_tokens, told.input_tokens);
        report.output_tokens = sum(report.output_tokens, told.output_tokens);
    }

    pub(crate) fn saw(&self, seen: Seen) {
        let mut report = self.report.borrow_mut();
        report.seen = report.seen.and(seen);
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

/// What is kept of a name: a database may take no NUL, and a terminal no control character.
fn kept_name(name: &str) -> Option<String> {
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
        for (told, kept) in [
            ("jev-1.13.0", Some("jev-1.13.0".to_owned())),
            ("a\0b\u{1b}[1m\n", Some("ab[1m".to_owned())),
            (&"ü".repeat(300), Some("ü".repeat(200))),
            ("", None),
            (" \0", None),
        ] {
            assert_eq!(kept_name(told), kept, "{told:?}");
        }
    }
}
