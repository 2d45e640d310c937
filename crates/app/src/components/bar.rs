//! A probability as a bar, the same on every page; and bars for shares and intervals.

use maud::{Markup, html};
use refract_domain::answer::probability::Probability;
use refract_domain::lens::cutoffs::Cutoffs;
use refract_evaluation::measures::proportion::{Interval, Proportion};

use super::number::{count, measured_percent, percent, share};

/// A bar for a probability, with its percentage. `is_chosen` marks the answer in words too, so that
/// the page does not rely on colour.
pub(crate) fn bar(probability: Probability, is_chosen: bool) -> Markup {
    draw(probability, is_chosen, None)
}

/// The bar of a Yes / No with its cutoffs: No below the first cutoff, Yes from the second one up,
/// Unsure in between. It says that its probability is that of yes.
pub(crate) fn yes_no_bar(yes: Probability, cutoffs: Cutoffs) -> Markup {
    html! { (draw(yes, true, Some(cutoffs))) span.soft { " yes" } }
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

/// A bar for `part` of `whole`, with the share in percent and the number on hover.
pub(crate) fn share_bar(part: u64, whole: u64) -> Markup {
    let percent = share(part, whole).unwrap_or_else(|| "0.0".to_owned());
    let width = format!("{percent}%");
    html! {
        span.probability title={ (count(part)) " of " (count(whole)) } {
            svg.bar aria-hidden="true" focusable="false" {
                rect.track width="100%" height="100%" {}
                rect.value width=(width) height="100%" {}
            }
            span.number { (percent) " %" }
        }
    }
}

/// A share in percent with its 95 % interval: `86.3 % (81.0 to 90.2)`.
pub(crate) fn share_range(value: Option<f64>, interval: Option<Interval>) -> String {
    let percent = |share| measured_percent(Some(share));
    match (value, interval) {
        (None, _) => "–".to_owned(),
        (Some(value), None) => format!("{} %", percent(value)),
        (Some(value), Some(Interval { low, high })) => {
            format!(
                "{} % ({} to {})",
                percent(value),
                percent(low),
                percent(high)
            )
        }
    }
}

/// A measured proportion in percent, with its interval.
pub(crate) fn proportion_range(proportion: Proportion) -> String {
    share_range(proportion.value(), proportion.interval())
}

/// A bar from 0 to 100 % with the interval as a band and the share as a line. The text beside it
/// has the numbers.
pub(crate) fn interval_bar(share: Option<f64>, interval: Option<Interval>) -> Markup {
    let at = |share: f64| format!("{:.1}%", share * 100.0);
    html! {
        @if let (Some(share), Some(interval)) = (share, interval) {
            svg.bar.interval aria-hidden="true" focusable="false" {
                rect.track width="100%" height="100%" {}
                rect.value x=(at(interval.low)) width=(at(interval.high - interval.low)) height="100%" {}
                line.cutoff x1=(at(share)) x2=(at(share)) y1="0" y2="100%" {}
            }
        }
    }
}
