//! A histogram of stored probabilities of yes, with both cutoffs; and a chart of
//! counts by day.

use std::fmt::Write as _;

use maud::{Markup, html};
use refract_service::results::DayCount;

use super::number::count;

/// The height of the drawing, in its own units; a percent is one unit wide.
const HEIGHT: f64 = 40.0;
/// The width of Unsure in percent from which its name has room in the line of the others.
const ROOM: f64 = 22.0;

/// Cutoffs in percent: results are No below the first, Yes from the second one up, and Unsure in
/// between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DrawnCutoffs {
    /// Where No ends.
    pub(crate) no_below: f64,
    /// Where Yes begins.
    pub(crate) yes_from: f64,
}

/// A histogram by percent, with the names of the labels beside the cutoffs and the value of each cutoff
/// above it. `counts` has 101 entries, for 0 to 100 percent; heights grow with their square roots, so
/// that the few beside a tower are seen. `saved` are the cutoffs in force.
pub(crate) fn histogram(
    counts: &[u64],
    cutoffs: DrawnCutoffs,
    saved: Option<DrawnCutoffs>,
) -> Markup {
    let DrawnCutoffs { no_below, yes_from } = cutoffs;
    html! {
        svg.histogram viewBox="0 0 101 40" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            rect.no x="0" y="0" width=(no_below) height="40" {}
            rect.unsure x=(no_below) y="0" width=((yes_from - no_below).max(0.0)) height="40" {}
            rect.yes x=(yes_from) y="0" width=(101.0 - yes_from) height="40" {}
            path.results d=(bars(counts)) {}
            @if let Some(saved) = saved {
                line.saved x1=(saved.no_below) x2=(saved.no_below) y1="0" y2="40" {}
                line.saved x1=(saved.yes_from) x2=(saved.yes_from) y1="0" y2="40" {}
            }
            line.cutoff.no-below x1=(no_below) x2=(no_below) y1="0" y2="40" {}
            line.cutoff.yes-from x1=(yes_from) x2=(yes_from) y1="0" y2="40" {}
            @for (percent, results) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                rect x=(percent) width="1" height="40" { title { (percent) " %: " (count(*results)) } }
            }
        }
        (zones(cutoffs))
        div.histogram-axis aria-hidden="true" {
            @for percent in ["0", "25", "50", "75", "100"] { span { (percent) " %" } }
        }
    }
}

/// The words over the drawing, which is stretched while they are not.
fn zones(DrawnCutoffs { no_below, yes_from }: DrawnCutoffs) -> Markup {
    let at = |percent: f64| format!("{:.2}%", percent / 1.01);
    let band = yes_from - no_below;
    let is_one = band <= 0.0;
    let of_band = is_one.then_some("none");
    html! {
        svg.zones aria-hidden="true" focusable="false" {
            text.no x=(at(no_below)) dx="-6" y="1.2em" { "No" }
            text.unsure x=(at(no_below + band / 2.0)) y=(if band < ROOM { "2.4em" } else { "1.2em" }) display=[of_band] { "Unsure" }
            text.yes x=(at(yes_from)) dx="6" y="1.2em" { "Yes" }
            text.value.no_below x=(at(no_below)) y="-9" display=[of_band] { (short_percent(no_below)) }
            text.value.yes_from x=(at(yes_from)) y="-9" { (short_percent(yes_from)) }
        }
    }
}

/// A percentage with at most one decimal: `62.5 %`.
pub(crate) fn short_percent(percent: f64) -> String {
    format!("{} %", (percent * 10.0).round() / 10.0)
}

/// The outline of all bars.
fn bars(counts: &[u64]) -> String {
    let highest = counts.iter().copied().max().unwrap_or(0).max(1);
    let mut path = String::new();
    for (percent, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let top = HEIGHT - height(*count, highest);
        // writing to a `String` cannot fail
        let _ = write!(path, "M{percent} 40V{top:.1}h.9V40z");
    }
    path
}

/// The height of a non-zero count, with a visible minimum.
fn height(count: u64, highest: u64) -> f64 {
    let share = u32::try_from(count.saturating_mul(1_000_000) / highest).unwrap_or(1_000_000);
    ((f64::from(share) / 1e6).sqrt() * HEIGHT).max(1.2)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_labels_are_named_beside_the_cutoffs() {
        let drawn = |no_below, yes_from| zones(DrawnCutoffs { no_below, yes_from }).into_string();
        let wide = drawn(30.3, 80.8);
        for words in [
            "<text class=\"no\" x=\"30.00%\" dx=\"-6\" y=\"1.2em\">No</text>",
            "<text class=\"unsure\" x=\"55.00%\" y=\"1.2em\">Unsure</text>",
            "<text class=\"yes\" x=\"80.00%\" dx=\"6\" y=\"1.2em\">Yes</text>",
            ">30.3 %</text>",
            ">80.8 %</text>",
        ] {
            assert!(wide.contains(words), "{words}: {wide}");
        }
        assert!(drawn(40.0, 50.0).contains("y=\"2.4em\">Unsure"), "no room");
        let one = drawn(50.0, 50.0);
        assert_eq!(one.matches("display=\"none\"").count(), 2, "{one}");
    }
}
