//! The validation of the form: problems with links to their inputs, warnings, size.

use std::collections::BTreeMap;

use maud::{Markup, html};
use refract_domain::limits::TOKEN_BUDGET;

use super::draft_bar::time;
use super::draft_keys::made_keys;
use super::editing::{CheckedDraft, Editing};
use super::keeping::DraftStanding;
use super::place_description::{describe, question_of};
use crate::components::fault_sentence::fault_sentence;
use crate::components::number::{count, counted};

/// The most warnings that are listed.
pub(super) const MOST_WARNINGS: usize = 30;

/// The panel. A script reads the problems from it, to show each one at its input.
pub(crate) fn panel(editing: &Editing, checked: &CheckedDraft) -> Markup {
    let (hidden, shown): (Vec<_>, Vec<_>) =
        (checked.problems.iter()).partition(|problem| is_folded(editing, &problem.path));
    let mut by_question: BTreeMap<usize, usize> = BTreeMap::new();
    for place in hidden.iter().filter_map(|it| question_of(&it.path)) {
        *by_question.entry(place).or_default() += 1;
    }
    let is_begun = editing.kept.is_touched() || checked.is_asked;
    html! {
        h2 { "State" }
        @if editing.kept.is_refused() { p #refused { strong { "Not kept: another tab holds another draft." } } }
        @if let DraftStanding::Stored(at) = editing.kept.standing {
            p #kept data-revision=(editing.kept.revision.number()) { "Kept as your draft, " (time(at)) "." }
        }
        ul #made-keys hidden {
            @for (path, key) in made_keys(&editing.draft, &editing.base) { li data-path=(path) { (key) } }
        }
        @if !is_begun && !checked.problems.is_empty() {
            p { "Give it a name and word the first question. It is kept as your draft while you type." }
        } @else if checked.problems.is_empty() {
            p { "Nothing is wrong." }
        } @else {
            p { strong { (counted(checked.problems.len(), "thing")) " to put right" } }
            ul.problems {
                @for problem in shown {
                    li data-problem=(problem.path) data-fault=(fault_sentence(&problem.error)) {
                        a href={ "#" (problem.path) } { (describe(&problem.path)) ": " (fault_sentence(&problem.error)) }
                    }
                }
                @for (place, count) in by_question {
                    li {
                        a href={ "#questions." (place) } { "Question " (place + 1) ": " (counted(count, "thing")) " to put right" }
                    }
                }
            }
        }
        @if let Some(size) = checked.size {
            p {
                "The prism takes about " (count(size)) " of the "
                (count(TOKEN_BUDGET)) " tokens of a call. The rest is for the text."
            }
        }
        @if !checked.warnings.is_empty() {
            h3 { "About the wording" @if editing.draft.is_large() { " of the open question" } }
            ul.problems {
                @for warning in &checked.warnings {
                    li { a href={ "#" (warning.path) } { (warning.path) } ": " bdi { (warning.message) } "." }
                }
            }
        }
        @if let (Some(prism), Some(based_on)) = (&editing.prism, editing.based_on) {
            @if prism.latest_version != based_on {
                p { strong { "Version " (prism.latest_version) " was saved by somebody meanwhile." } " Review shows it beside yours." }
            }
        }
    }
}

/// Whether the input at a path lies in a folded question.
fn is_folded(editing: &Editing, path: &str) -> bool {
    let questions = &editing.draft.questions;
    let question = question_of(path).and_then(|place| questions.get(place));
    question.is_some_and(|question| question.is_folded)
}
