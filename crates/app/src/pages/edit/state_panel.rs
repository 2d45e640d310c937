//! What the rules say about the form: problems with links to their inputs, warnings, the size.

use maud::{Markup, html};
use refract_domain::limits::TOKEN_BUDGET;

use super::editing::{Checked, Editing};
use crate::components::number::{count, counted};

/// The state of the form. A script reads the problems from it, to put each beside its input.
pub(crate) fn panel(editing: &Editing, checked: &Checked) -> Markup {
    let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    html! {
        h2 { "State" }
        @if checked.problems.is_empty() {
            p { "Nothing is wrong." }
        } @else {
            p { strong { (counted(number(checked.problems.len()), "thing")) " to put right" } }
            ul.problems {
                @for problem in &checked.problems {
                    li data-path=(problem.path) data-fault=(problem.fault) {
                        a href={ "#" (problem.path) } { (problem.path) } ": " (problem.fault)
                    }
                }
            }
        }
        @if let Some(size) = checked.size {
            p {
                "The prism takes about " (count(number(size))) " of the "
                (count(number(TOKEN_BUDGET))) " tokens of a call. The rest is for the text."
            }
        }
        @if !checked.warnings.is_empty() {
            h3 { "About the wording" }
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
