//! Plots of shares over shares, drawn on the server: a frame with axes, and marks in it. A
//! histogram of stored probabilities of yes, with both cutoffs; and a chart of counts by day.

use std::fmt::Write as _;

use maud::{Markup, html};
use refract_evaluation::measures::Interval;
use refract_service::results::DayCount;

use super::readable::count;

/// Size of the whole plot, and the edges of its area, in units of the drawing.
const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 388.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 208.0;
/// Where an axis may begin, the highest first.
const BEGINNINGS: [f64; 4] = [0.9, 0.8, 0.5, 0.0];
/// Number of steps of an axis.
const STEPS: u32 = 5;

/// An axis of shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlotAxis<'a> {
    /// The label.
    pub(crate) label: &'a str,
    /// The share at the beginning of the axis; the end is always 1.
    pub(crate) from: f64,
    /// Whether the shares are labelled.
    pub(crate) has_ticks: bool,
}

/// A plot of shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plot<'a> {
    /// The text alternative for screen readers.
    pub(crate) words: &'a str,
    pub(crate) x: PlotAxis<'a>,
    pub(crate) y: PlotAxis<'a>,
}

impl<'a> PlotAxis<'a> {
    /// An axis from 0 to 100 %.
    pub(crate) fn whole(label: &'a str) -> Self {
        Self {
            label,
            from: 0.0,
            has_ticks: true,
        }
    }

    /// An axis that begins below every share, where its steps are round numbers.
    pub(crate) fn down_to(label: &'a str, shares: impl Iterator<Item = f64>) -> Self {
        let lowest = shares.fold(1.0, f64::min);
        let from = BEGINNINGS.into_iter().find(|from| *from <= lowest);
        Self {
            from: from.unwrap_or(0.0),
            ..Self::whole(label)
        }
    }

    /// The axis without labels of its shares.
    pub(crate) fn without_ticks(self) -> Self {
        Self {
            has_ticks: false,
            ..self
        }
    }

    /// Where a share is, from 0 to 1.
    fn place(self, share: f64) -> f64 {
        ((share - self.from) / (1.0 - self.from)).clamp(0.0, 1.0)
    }

    /// The shares that are labelled, with the labels in percent.
    fn ticks(self) -> impl Iterator<Item = (f64, String)> {
        (0..=STEPS).map(move |step| {
            let share = self.from + (1.0 - self.from) * f64::from(step) / f64::from(STEPS);
            let percent = format!("{:.1}", share * 100.0);
            (share, percent.trim_end_matches(".0").to_owned())
        })
    }
}

impl Plot<'_> {
    /// The frame with its axes, and `marks` in it.
    pub(crate) fn draw(&self, marks: &Markup) -> Markup {
        html! {
            svg.plot viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(self.words) {
                @for (share, label) in self.y.ticks() {
                    line.grid x1=(LEFT) x2=(RIGHT) y1=(self.y(share)) y2=(self.y(share)) {}
                    @if self.y.has_ticks {
                        text x=(LEFT - 6.0) y=(self.y(share)) dy="4" text-anchor="end" { (label) }
                    }
                }
                @if self.x.has_ticks {
                    @for (share, label) in self.x.ticks() {
                        text x=(self.x(share)) y=(BOTTOM + 16.0) text-anchor="middle" { (label) }
                    }
                }
                text x=(LEFT) y=(HEIGHT - 6.0) { (self.x.label) " →" }
                text x="12" y=(BOTTOM) transform={ "rotate(-90 12 " (BOTTOM) ")" } { (self.y.label) " →" }
                (marks)
            }
        }
    }

    /// A dashed line from the lower left to the upper right corner.
    pub(crate) fn diagonal() -> Markup {
        html! { line.ideal x1=(LEFT) y1=(BOTTOM) x2=(RIGHT) y2=(TOP) {} }
    }

    /// A point with its interval as a vertical line; `words` are shown on hover.
    pub(crate) fn point(&self, x: f64, y: f64, interval: Option<Interval>, words: &str) -> Markup {
        html! {
            g {
                title { (words) }
                @if let Some(Interval { low, high }) = interval {
                    line.spread x1=(self.x(x)) x2=(self.x(x)) y1=(self.y(low)) y2=(self.y(high)) {}
                }
                circle.point cx=(self.x(x)) cy=(self.y(y)) r="3.5" {}
            }
        }
    }

    /// A line through points.
    pub(crate) fn curve(&self, points: impl Iterator<Item = (f64, f64)>) -> Markup {
        let points: Vec<_> = points
            .map(|(x, y)| format!("{},{}", self.x(x), self.y(y)))
            .collect();
        html! { polyline.curve points=(points.join(" ")) {} }
    }

    fn x(&self, share: f64) -> String {
        format!("{:.1}", LEFT + self.x.place(share) * (RIGHT - LEFT))
    }

    fn y(&self, share: f64) -> String {
        format!("{:.1}", BOTTOM - self.y.place(share) * (BOTTOM - TOP))
    }
}

/// The height of the drawing, in its own units; a percent is one unit wide.
const HISTOGRAM_HEIGHT: f64 = 40.0;
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
        let top = HISTOGRAM_HEIGHT - height(*count, highest);
        // writing to a `String` cannot fail
        let _ = write!(path, "M{percent} 40V{top:.1}h.9V40z");
    }
    path
}

/// The height of a non-zero count, with a visible minimum.
fn height(count: u64, highest: u64) -> f64 {
    let share = u32::try_from(count.saturating_mul(1_000_000) / highest).unwrap_or(1_000_000);
    ((f64::from(share) / 1e6).sqrt() * HISTOGRAM_HEIGHT).max(1.2)
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
                    // room to hover over
                    rect x=(place * 6) {}
                    rect x=(place * 6) y=(20 - height) height=(height) {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_begins_below_every_share() {
        let from = |shares: &[f64]| PlotAxis::down_to("", shares.iter().copied()).from;
        assert!((from(&[0.87, 0.99]) - 0.8).abs() < 1e-9);
        assert!((from(&[1.0]) - 0.9).abs() < 1e-9);
        assert!((from(&[0.79, 0.5]) - 0.5).abs() < 1e-9);
        assert!(from(&[0.49]).abs() < 1e-9);
        let axis = PlotAxis::down_to("", [0.87].into_iter());
        let labels: Vec<_> = axis.ticks().map(|(_, label)| label).collect();
        assert_eq!(labels, ["80", "84", "88", "92", "96", "100"]);
    }

    #[test]
    fn a_point_stands_at_its_shares() {
        let plot = Plot {
            words: "",
            x: PlotAxis::whole("x"),
            y: PlotAxis::whole("y"),
        };
        let drawn = plot.point(0.0, 1.0, None, "<b>").into_string();
        assert!(drawn.contains("cx=\"46.0\" cy=\"12.0\""), "{drawn}");
        assert!(drawn.contains("&lt;b&gt;"), "{drawn}");
    }

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
