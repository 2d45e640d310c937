//! What is wrong with the draft of a lens, in the words of the page.

use refract_domain::problem::Problem;

/// A problem in the words of the page; other problems keep the words of lens files.
pub(super) fn message(problem: &Problem) -> String {
    let error = problem.error.to_string();
    let is_about = |words: &str| error.contains(words);
    let words = match problem.path.rsplit('.').next() {
        Some("no_below") if is_about("less than 1") => "No must end below 100 %.",
        Some("no_below") if is_about("greater than 0") => "No must end above 0 %.",
        Some("yes_from") if is_about("greater than") => "Yes must start above No.",
        Some("yes_from") if is_about("less than") => "Yes can start at 100 % at most.",
        Some("no_below" | "yes_from") => "Type a number of percent, such as 40 or 62.5.",
        Some("question") => {
            "The latest version of the prism has no such question: remove this column."
        }
        Some("output") => "The question has another type now: choose what to show.",
        Some("columns") => "A lens needs a column: add one.",
        Some(_) | None => return error,
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
