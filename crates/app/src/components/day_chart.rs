//! Results by day, as a small chart beside a number.

use maud::{Markup, html};

/// Bars for the results of some days, oldest first. `words` says the same for those who do not see
/// it.
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
