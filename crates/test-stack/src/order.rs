//! The order of checks: when a request fails two checks, the earlier check decides the answer.
//!
//! The size check of a retry is left out, because a stored result is never too large.

use refract_test_support::model_server::ScriptedReply;

use crate::expected::{JSON, Saved};
use crate::http::answer::HttpAnswer;

/// The answer to a request with one fault.
#[derive(Clone, Debug)]
pub enum CheckOutcome {
    /// An error: status, code, message.
    Error(u16, &'static str, String),
    /// One of the problems that are reported together (path, format, body).
    Problem(&'static str),
    /// Status 200 with this body, a stored result.
    Stored(String),
    /// Status 502 with a new failed result.
    Failed,
}

/// Something that can be wrong with a call of type `C`.
pub struct CallViolation<C> {
    /// A name for messages.
    pub name: &'static str,
    /// The part of the call that the fault changes: faults of one place exclude each other.
    pub place: &'static str,
    /// What the service answers.
    pub outcome: CheckOutcome,
    /// Puts the fault into a call.
    pub make: fn(&mut C),
}

/// A fault with a separate error.
pub fn error<C>(
    name: &'static str,
    place: &'static str,
    (status, code, message): (u16, &'static str, &str),
    make: fn(&mut C),
) -> CallViolation<C> {
    CallViolation {
        name,
        place,
        outcome: CheckOutcome::Error(status, code, message.to_owned()),
        make,
    }
}

/// A fault that is reported together with other problems.
pub fn problem<C>(place: &'static str, text: &'static str, make: fn(&mut C)) -> CallViolation<C> {
    CallViolation {
        name: text,
        place,
        outcome: CheckOutcome::Problem(text),
        make,
    }
}

/// Every single fault, then every pair of faults in different places, the earlier check first.
pub fn ones_and_pairs<C>(violations: &[CallViolation<C>]) -> Vec<Vec<&CallViolation<C>>> {
    let mut sets: Vec<Vec<_>> = violations.iter().map(|violation| vec![violation]).collect();
    for (index, earlier) in violations.iter().enumerate() {
        for later in &violations[index + 1..] {
            if earlier.place != later.place {
                sets.push(vec![earlier, later]);
            }
        }
    }
    sets
}

/// Checks that the first fault decides the answer, together with problems reported with it.
pub fn assert_first<C>(violations: &[&CallViolation<C>], answer: &HttpAnswer) {
    let names: Vec<_> = violations.iter().map(|violation| violation.name).collect();
    let context = format!("{names:?}: {answer:?}");
    match &violations[0].outcome {
        CheckOutcome::Error(status, code, message) => {
            assert_eq!(answer.status, *status, "{context}");
            answer.assert_error(*status, code, message);
        }
        CheckOutcome::Problem(_) => {
            let problems = violations
                .iter()
                .filter_map(|violation| match violation.outcome {
                    CheckOutcome::Problem(text) => Some(text),
                    CheckOutcome::Error(..) | CheckOutcome::Stored(_) | CheckOutcome::Failed => {
                        None
                    }
                });
            let problems = problems.collect::<Vec<_>>().join("; ");
            assert_eq!(answer.status, 400, "{context}");
            let message = format!("Invalid request: {problems}");
            answer.assert_error(400, "validation_failed", &message);
        }
        CheckOutcome::Stored(body) => {
            assert_eq!(answer.status, 200, "{context}");
            answer.assert(200, JSON, body);
        }
        CheckOutcome::Failed => {
            assert_eq!(answer.status, 502, "{context}");
            let saved = Saved::of(answer);
            assert!(saved.error.is_some(), "{context}");
            answer.assert(502, JSON, &saved.envelope("null"));
        }
    }
}

/// A model server that refuses every request, so that no second attempt is made.
pub fn failing_model() -> ScriptedReply {
    ScriptedReply::status(400)
}

/// The error of a body that is not a JSON object.
pub const MALFORMED: (u16, &str, &str) = (400, "bad_request", "Malformed request");
/// The error of a body that is too large.
pub const TOO_LARGE: (u16, &str, &str) = (413, "bad_request", "Malformed request");
/// The error of another media type or encoding.
pub const UNSUPPORTED: (u16, &str, &str) = (415, "bad_request", "Malformed request");
/// The error of a call without a key.
pub const NO_KEY: (u16, &str, &str) = (401, "unauthorized", "Authentication required");
/// The error of an unknown or revoked key.
pub const WRONG_KEY: (u16, &str, &str) = (401, "unauthorized", "Invalid API key");
/// The error of an unknown result.
pub const NO_RESULT: (u16, &str, &str) = (404, "not_found", "Result not found");
/// The problem of an unknown format.
pub const FORMAT: &str = "format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'";
/// The problem of a result id that is not a UUID.
pub const INVALID_UUID: &str = "result_id: Invalid uuid";
