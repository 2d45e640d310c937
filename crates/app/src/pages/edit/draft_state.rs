//! The state of a draft on its pages: its age, how to discard it, what happened to it elsewhere; and its
//! problems, warnings and size, with links to the inputs by their labels.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use refract_domain::limits::TOKEN_BUDGET;
use refract_service::prisms::find_example;

use super::editing::{CheckedDraft, DraftStanding, Editing, REVISION, TAB};
use super::item_keys::{SLUG, made_keys, question_of};
use crate::components::{NoticeKind, count, counted, fault_sentence, moment, notice};
use crate::requests::Visit;

/// What happened before the redirect to the form.
pub(crate) fn done(what: &str) -> Option<&'static str> {
    match what {
        "discarded" => Some("Your draft is discarded."),
        "gone" => Some("That draft was saved or discarded before. This is what is saved now."),
        "other" => Some("Your draft was changed in another tab meanwhile. This is how it is now."),
        _ => None,
    }
}

/// The stored draft's age, with a button that discards it.
pub(crate) fn draft_bar(visit: &Visit, editing: &Editing) -> Markup {
    let from = visit.sent.query.get("from");
    let from = from.filter(|_| editing.prism.is_none());
    html! {
        @if let DraftStanding::Stored(saved_at) = editing.kept.standing {
            @if let Some(from) = from { (instead_of(from)) }
            div.draft-bar {
                p #draft-age { "Your draft of " (moment(saved_at)) ", " (ago(saved_at)) "." }
                details open[from.is_some()] {
                    summary { "Discard" }
                    form method="post" action={ (editing.address()) "/draft" } {
                        (named(editing))
                        @if let Some(from) = from { input type="hidden" name="from" value=(from); }
                        span { "Everything in it is lost. " }
                        button.danger type="submit" name="act" value="discard" {
                            "Discard the draft"
                            @if from.is_some() { " and start anew" }
                        }
                    }
                }
            }
        }
    }
}

/// Why the draft of a new prism is shown, and not the example that was opened.
fn instead_of(from: &str) -> Markup {
    let example = find_example(from);
    notice(
        NoticeKind::Warning,
        &html! {
            "You have a draft of a new prism, so it is shown here and not "
            @match example { Some(example) => { "the example " bdi { (example.name) } } None => { "a blank one" } }
            ". Discard the draft to start anew."
        },
    )
}

/// The warning that this page's draft is not stored, because another one is.
pub(crate) fn conflict(editing: &Editing) -> Markup {
    let words = match editing.kept.standing {
        DraftStanding::Unsaved | DraftStanding::Stored(_) => return html! {},
        DraftStanding::Overtaken(at) => html! {
            "Your draft was changed in another tab at " (moment(at))
            ". What you typed here is on this page only, and is not kept yet. "
        },
        DraftStanding::Gone => html! {
            "Your draft was saved or discarded since this page was opened. What you typed here is on \
             this page only, and is not kept yet. "
        },
    };
    notice(
        NoticeKind::Refused,
        &html! {
            (words)
            div.row {
                button type="submit" name="act" value="mine" { "Keep what is on this page" }
                a href=(editing.address()) { "Show what is kept instead" }
            }
        },
    )
}

/// Hidden inputs that name the draft of a page.
pub(crate) fn named(editing: &Editing) -> Markup {
    html! {
        input type="hidden" name=(REVISION) value=(editing.kept.revision.number());
        input type="hidden" name=(TAB) value=(editing.kept.tab);
    }
}

fn ago(at: DateTime<Utc>) -> String {
    let minutes = (Utc::now() - at).num_minutes();
    let (number, noun) = match minutes {
        ..1 => return "just now".to_owned(),
        1..60 => (minutes, "minute"),
        60..1_440 => (minutes / 60, "hour"),
        _ => (minutes / 1_440, "day"),
    };
    format!(
        "{} ago",
        counted(u64::try_from(number).unwrap_or_default(), noun)
    )
}

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
            p #kept data-revision=(editing.kept.revision.number()) { "Kept as your draft, " (moment(at)) "." }
        }
        ul #made-keys hidden {
            @for (path, key) in made_keys(&editing.draft, &editing.base) { li data-path=(path) { (key) } }
            @if editing.prism.is_none() { li data-path=(SLUG) { (checked.made_slug) } }
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
                        a href={ "#questions." (place) ".open" } { "Question " (place + 1) ": " (counted(count, "thing")) " to put right" }
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
                    li { a href={ "#" (warning.path) } { (describe(&warning.path)) } ": " bdi { (warning.message) } "." }
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

/// A path of the prism file in words: `Question 1, option 3, label` for
/// `questions.0.options.2.label`.
pub(crate) fn describe(path: &str) -> String {
    let mut named = Vec::new();
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        let place = parts.peek().and_then(|next| next.parse::<usize>().ok());
        named.push(match place {
            Some(place) => {
                parts.next();
                let noun = part.strip_suffix('s').unwrap_or(part);
                format!("{noun} {}", place.saturating_add(1))
            }
            None => part.to_owned(),
        });
    }
    let words = named.join(", ");
    let mut letters = words.chars();
    let first = letters.next();
    first.map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_reported_in_the_words_of_the_form() {
        for (path, words) in [
            ("name", "Name"),
            ("questions", "Questions"),
            ("fields.0.label", "Field 1, label"),
            ("questions.1.options", "Question 2, options"),
            ("questions.1.options.2.key", "Question 2, option 3, key"),
            ("questions.9.levels.0", "Question 10, level 1"),
            ("", ""),
        ] {
            assert_eq!(describe(path), words);
        }
    }
}
