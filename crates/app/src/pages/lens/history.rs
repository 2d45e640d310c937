//! The history of a lens: who changed it from what to what, when and why, and every state to put
//! back.

use maud::{Markup, html};
use refract_domain::lens::cutoffs::Cutoff;
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::PrismVersion;
use refract_service::lenses::{LensHistory, LensState};

use super::percent_text::to_percent;
use crate::components::moment::moment;
use crate::components::prism_tabs::prism_address;
use crate::components::table::stacked_table;

/// The most states in the list.
const SHOWN: usize = 20;
/// The most states that the list needs: the last one is compared with the one before it.
pub(super) const STATES: u32 = 21;
/// The most changes that a row lists.
const LISTED: usize = 4;

/// The history, with a button to put a state back for those who may.
pub(super) fn history(found: &LensHistory, may_change: bool) -> Markup {
    let LensHistory { lens, states } = found;
    let address = format!("{}/lens", prism_address(&lens.prism));
    let before = states.iter().skip(1).map(Some).chain([None]);
    let rows = html! {
        @for (state, before) in states.iter().zip(before).take(SHOWN) {
            @let before = before.filter(|before| before.revision + 1 == state.revision);
            @let is_now = state.revision == lens.prism.lens_revision;
            tr {
                th scope="row" {
                    @match &state.saved {
                        Some(saved) => (moment(saved.made_at)),
                        None => span.soft { "earlier" },
                    }
                }
                td data-label="Who" { (actor(state)) }
                td data-label="What" { (difference(before, state, &lens.latest)) }
                td data-label="Why" {
                    @if let Some(note) = state.saved.as_ref().and_then(|saved| saved.note.as_ref()) {
                        bdi { (note) }
                    }
                }
                td {
                    div.row {
                        @if before.is_some() {
                            a href={ (address) "/revisions/" (state.revision) } {
                                "Changed results" span.unseen { " of revision " (state.revision) }
                            }
                        }
                        @if is_now { span.tag { "in force" } }
                        @else if may_change { (put_back(&address, state.revision, lens.prism.lens_revision, "Put back")) }
                    }
                }
            }
        }
    };
    html! {
        section.history #history {
            h2 { "History" }
            @if states.is_empty() {
                p.soft { "The lens was not changed yet. Each change shows here, and can be undone." }
            } @else {
                (stacked_table("The lenses of this prism, newest first", &["When", "Who", "What", "Why", ""], &rows))
            }
        }
    }
}

/// The button that puts a state back in place of the revision that the page shows.
pub(super) fn put_back(address: &str, revision: i32, based_on: i32, label: &str) -> Markup {
    html! {
        form method="post" action={ (address) "/put-back" } {
            input type="hidden" name="state" value=(revision);
            input type="hidden" name="revision" value=(based_on);
            button type="submit" {
                (label) @if label == "Put back" { span.unseen { " revision " (revision) } }
            }
        }
    }
}

/// Who saved a state.
pub(super) fn actor(state: &LensState) -> Markup {
    html! {
        @match state.saved.as_ref().map(|saved| saved.actor.as_ref()) {
            Some(Some(name)) => bdi { (name) },
            Some(None) => span.soft { "terminal" },
            None => span.soft { "not recorded" },
        }
    }
}

/// What differs between two states, or what the first one was.
pub(super) fn difference(
    before: Option<&LensState>,
    state: &LensState,
    latest: &PrismVersion,
) -> Markup {
    let after = latest.columns(&state.lens);
    let Some(before) = before else {
        return html! {
            @match state.lens {
                Lens::Automatic => "automatic",
                Lens::Custom(_) => { (after.len()) " columns" }
            }
        };
    };
    let mut changes = changes(latest.columns(&before.lens), after);
    match (&before.lens, &state.lens) {
        (Lens::Custom(_), Lens::Automatic) => changes.insert(0, "automatic again".to_owned()),
        (Lens::Automatic, Lens::Custom(_)) if changes.is_empty() => {
            changes.push("kept as it is".to_owned());
        }
        (Lens::Custom(_) | Lens::Automatic, Lens::Custom(_) | Lens::Automatic) => {}
    }
    let more = changes.len().saturating_sub(LISTED);
    html! {
        @for change in changes.iter().take(LISTED) { div { bdi { (change) } } }
        @if more > 0 { div.soft { "and " (more) " more" } }
    }
}

/// The differences between two lists of columns in words.
fn changes(before: &[Column], after: &[Column]) -> Vec<String> {
    let mut words = Vec::new();
    for new in after {
        let Some(old) = before.iter().find(|old| old.name == new.name) else {
            words.push(format!("new column {}", new.name));
            continue;
        };
        match (cutoffs(old), cutoffs(new)) {
            (Some(was), Some(is)) if old.question == new.question => {
                let names = ["No below", "Yes from"].into_iter();
                for (name, (was, is)) in names.zip(was.into_iter().zip(is)) {
                    if was != is {
                        words.push(format!("{}: {name} {was} → {is} %", new.name));
                    }
                }
            }
            _ if (&old.question, old.output) != (&new.question, new.output) => {
                let (was, is) = (old.output.name(), new.output.name());
                words.push(format!("{}: {was} → {is} of {}", new.name, new.question));
            }
            (Some(_) | None, Some(_) | None) => {}
        }
    }
    let is_gone = |old: &&Column| after.iter().all(|new| new.name != old.name);
    words.extend(
        before
            .iter()
            .filter(is_gone)
            .map(|old| format!("without column {}", old.name)),
    );
    if words.is_empty() && before != after {
        words.push("another order of columns".to_owned());
    }
    words
}

/// Both cutoffs of a label column in percent.
fn cutoffs(column: &Column) -> Option<[String; 2]> {
    let cutoffs = column.output.cutoffs()?;
    let no_ends_at = cutoffs.no_ends_at();
    let both = [no_ends_at, cutoffs.yes_from().unwrap_or(no_ends_at)];
    Some(both.map(Cutoff::value).map(to_percent))
}
