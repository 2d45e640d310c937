//! A histogram of stored probabilities of yes, with both cutoffs.

use maud::{Markup, html};

/// A histogram by percent. `counts` has 101 entries, for 0 to 100 percent. Results are No below
/// `no_below`, Yes from `yes_from` up, and Unsure in between; both are percents.
pub(crate) fn histogram(counts: &[u64], no_below: f64, yes_from: f64) -> Markup {
    let highest = counts.iter().copied().max().unwrap_or(0).max(1);
    html! {
        svg.histogram viewBox="0 0 101 40" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            rect.no x="0" y="0" width=(no_below) height="40" {}
            rect.unsure x=(no_below) y="0" width=((yes_from - no_below).max(0.0)) height="40" {}
            rect.yes x=(yes_from) y="0" width=(101.0 - yes_from) height="40" {}
            @for (percent, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                @let height = height(*count, highest);
                rect.results x=(percent) y=(format!("{:.2}", 40.0 - height)) width="0.9" height=(format!("{height:.2}")) {}
            }
            line.cutoff.no-below x1=(no_below) x2=(no_below) y1="0" y2="40" {}
            line.cutoff.yes-from x1=(yes_from) x2=(yes_from) y1="0" y2="40" {}
        }
        div.histogram-axis aria-hidden="true" { span { "0 %" } span { "50 %" } span { "100 %" } }
    }
}

/// The height of a non-zero count, with a visible minimum.
fn height(count: u64, highest: u64) -> f64 {
    let share = u32::try_from(count.saturating_mul(1000) / highest).unwrap_or(1000);
    (f64::from(share) / 1000.0 * 40.0).max(1.2)
}
