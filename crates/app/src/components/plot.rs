//! Plots of shares over shares, drawn on the server: a frame with axes, and marks in it.

use maud::{Markup, html};
use refract_evaluation::measures::proportion::Interval;

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
}
