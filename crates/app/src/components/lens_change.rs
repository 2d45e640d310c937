//! What a change of a lens changed, in the same words wherever a history lists it.

use maud::{Markup, html};
use refract_domain::lens::cutoffs::Cutoff;
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::PrismVersion;
use refract_service::lenses::LensState;

use super::number::to_percent;

/// The most changes that a row lists.
const LISTED: usize = 4;

/// What differs between two states, or what the first one was.
pub(crate) fn lens_change(
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
        @for change in changes.iter().take(LISTED) { div.change { bdi { (change) } } }
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
    let both = [cutoffs.no_ends_at(), cutoffs.yes_begins_at()];
    Some(both.map(Cutoff::value).map(to_percent))
}
