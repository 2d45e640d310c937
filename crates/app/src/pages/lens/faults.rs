//! What is wrong with the draft of a lens, in people's words.

use refract_domain::problem::{Problem, ValidationError};

use crate::components::fault_sentence::fault_sentence;

/// A problem of a lens file in the words of the page, whose cutoffs are percents.
pub(super) fn message(problem: &Problem) -> String {
    let end = problem.path.rsplit('.').next().unwrap_or_default();
    let words = match (end, &problem.error) {
        ("no_below" | "yes_from", ValidationError::Expected { .. }) => {
            "Type a number of percent, such as 40 or 62.5."
        }
        ("yes_from", ValidationError::NumberTooBig(_)) => "Yes can start at 100 % at most.",
        ("output", _) => "The question has another type now: choose what to show.",
        ("columns", _) => "A lens needs a column: add one.",
        (_, error) => return fault_sentence(error),
    };
    words.to_owned()
}

/// The problems at these paths as one text; empty for none.
pub(super) fn at(problems: &[Problem], paths: &[&str]) -> String {
    let here = problems.iter();
    let here = here.filter(|problem| paths.contains(&problem.path.as_str()));
    let mut words: Vec<_> = here.map(message).collect();
    words.dedup();
    words.join(" ")
}
