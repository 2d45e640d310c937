//! A probability as a bar, the same on every page.

use maud::{Markup, html};
use refract_domain::answer::probability::Probability;
use refract_domain::lens::cutoffs::Cutoffs;

use super::number::percent;

/// A bar for a probability, with its percentage. `is_chosen` marks the answer in words too, so that
/// the page does not rely on colour.
pub(crate) fn bar(probability: Probability, is_chosen: bool) -> Markup {
    draw(probability, is_chosen, None)
}

/// The bar of a Yes / No with its cutoffs: No below the first cutoff, Yes from the second one up,
/// Unsure in between.
pub(crate) fn yes_no_bar(probability: Probability, cutoffs: Cutoffs) -> Markup {
    draw(probability, true, Some(cutoffs))
}

fn draw(probability: Probability, is_chosen: bool, cutoffs: Option<Cutoffs>) -> Markup {
    let percent = percent(probability);
    let width = format!("{percent}%");
    html! {
        span.probability.chosen[is_chosen] {
            svg.bar aria-hidden="true" focusable="false" {
                rect.track width="100%" height="100%" {}
                rect.value width=(width) height="100%" {}
                @if let Some(cutoffs) = cutoffs {
                    @for cutoff in [Some(cutoffs.no_ends_at()), cutoffs.yes_from()].into_iter().flatten() {
                        @let at = format!("{:.2}%", cutoff.value() * 100.0);
                        line.cutoff x1=(at) x2=(at) y1="0" y2="100%" {}
                    }
                }
            }
            span.number { (percent) " %" }
        }
    }
}
