//! The order of checks: of every two checks that one request fails, the earlier one answers.
//!
//! Not here: the size estimate of a retry, since no stored result can be over it.

use refract_test_support::model_server::ScriptedReply as Reply;

use crate::expected::{JSON, Saved};
use crate::http::Answer;

/// What a request with one fault is answered.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// An error: status, code, message.
    Error(u16, &'static str, String),
    /// One of the problems that are found together (path, format, body).
    Problem(&'static str),
    /// This stored result, with 200.
    Stored(String),
    /// A new failed result, with 502.
    Failed,
}

/// Something that can be wrong with a call of some kind.
pub(crate) struct Fault<C> {
    pub(crate) name: &'static str,
    /// Two faults of one place exclude each other.
    pub(crate) place: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) make: fn(&mut C),
}

/// A fault that is answered with an error.
pub(crate) fn error<C>(
    name: &'static str,
    place: &'static str,
    (status, code, message): (u16, &'static str, &str),
    make: fn(&mut C),
) -> Fault<C> {
    Fault {
        name,
        place,
        outcome: Outcome::Error(status, code, message.to_owned()),
        make,
    }
}

/// A fault that is one of the problems found together; its place is its name.
pub(crate) fn problem<C>(place: &'static str, text: &'static str, make: fn(&mut C)) -> Fault<C> {
    Fault {
        name: text,
        place,
        outcome: Outcome::Problem(text),
        make,
    }
}

/// Every fault alone, then every two that can be together, in their order.
pub(crate) fn ones_and_pairs<C>(faults: &[Fault<C>]) -> Vec<Vec<&Fault<C>>> {
    let mut sets: Vec<Vec<_>> = faults.iter().map(|fault| vec![fault]).collect();
    for (index, earlier) in faults.iter().enumerate() {
        for later in &faults[index + 1..] {
            if earlier.place != later.place {
                sets.push(vec![earlier, later]);
            }
        }
    }
    sets
}

/// What the first of these faults is answered, together with the problems found beside it.
pub(crate) fn assert_first<C>(faults: &[&Fault<C>], answer: &Answer) {
    let names: Vec<_> = faults.iter().map(|fault| fault.name).collect();
    let context = format!("{names:?}: {answer:?}");
    match &faults[0].outcome {
        Outcome::Error(status, code, message) => {
            assert_eq!(answer.status, *status, "{context}");
            answer.assert_error(*status, code, message);
        }
        Outcome::Problem(_) => {
            let problems = faults.iter().filter_map(|fault| match fault.outcome {
                Outcome::Problem(text) => Some(text),
                Outcome::Error(..) | Outcome::Stored(_) | Outcome::Failed => None,
            });
            let problems = problems.collect::<Vec<_>>().join("; ");
            assert_eq!(answer.status, 400, "{context}");
            let message = format!("Invalid request: {problems}");
            answer.assert_error(400, "validation_failed", &message);
        }
        Outcome::Stored(body) => {
            assert_eq!(answer.status, 200, "{context}");
            answer.assert(200, JSON, body);
        }
        Outcome::Failed => {
            assert_eq!(answer.status, 502, "{context}");
            let saved = Saved::of(answer);
            assert!(saved.error.is_some(), "{context}");
            answer.assert(502, JSON, &saved.envelope("null"));
        }
    }
}

/// A model that answers nothing usable, at once.
pub(crate) fn failing_model() -> Reply {
    Reply::status(400)
}

pub(crate) const MALFORMED: (u16, &str, &str) = (400, "bad_request", "Malformed request");
pub(crate) const TOO_LARGE: (u16, &str, &str) = (413, "bad_request", "Malformed request");
pub(crate) const UNSUPPORTED: (u16, &str, &str) = (415, "bad_request", "Malformed request");
pub(crate) const NO_KEY: (u16, &str, &str) = (401, "unauthorized", "Authentication required");
pub(crate) const WRONG_KEY: (u16, &str, &str) = (401, "unauthorized", "Invalid API key");
pub(crate) const NO_RESULT: (u16, &str, &str) = (404, "not_found", "Result not found");
pub(crate) const FORMAT: &str = "format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'";
pub(crate) const INVALID_UUID: &str = "result_id: Invalid uuid";
