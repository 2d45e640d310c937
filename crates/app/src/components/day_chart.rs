//! Results by day, as a small bar chart.

use maud::{Markup, html};

/// A bar for each day's results, oldest first. `words` is the text alternative for screen readers.
pub(crate) fn day_chart(results: &[u64], words: &str) -> Markup {
    let highest = results.iter().copied().max().unwrap_or(0).max(1);
    let width = results.len() * 6;
    html! {
        svg.days viewBox={ "0 0 " (width) " 20" } role="img" aria-label=(words) {
            @for (place, count) in results.iter().enumerate() {
                @let height = (count.saturating_mul(18) / highest).max(1);
                rect x=(place * 6) y=(20 - height) width="5" height=(height) {}
            }
        }
    }
}
