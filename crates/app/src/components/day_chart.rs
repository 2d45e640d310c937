//! Results by day, as a small bar chart.

use maud::{Markup, html};
use refract_service::results::DayCount;

use super::number::count;

/// A bar for each day's results, oldest first, with the day and its number on hover.
pub(crate) fn day_chart(days: &[DayCount]) -> Markup {
    let of_day = |day: &DayCount| day.ok + day.failed;
    let highest = days.iter().map(of_day).max().unwrap_or(0).max(1);
    let width = days.len() * 6;
    let words: Vec<_> = days.iter().map(|day| of_day(day).to_string()).collect();
    html! {
        svg.days viewBox={ "0 0 " (width) " 20" } role="img" aria-label={ "Results by day: " (words.join(", ")) } {
            @for (place, day) in days.iter().enumerate() {
                @let height = (of_day(day).saturating_mul(18) / highest).max(1);
                g {
                    title { (day.day.format("%a %-d %b")) ": " (count(of_day(day))) }
                    rect.space x=(place * 6) y="0" width="6" height="20" {}
                    rect x=(place * 6) y=(20 - height) width="5" height=(height) {}
                }
            }
        }
    }
}
