//! The state that everybody sees first: no marks, or too few of them to rely on.

use maud::{Markup, html};
use refract_evaluation::cutoffs::advice::FEW_MARKS;
use refract_evaluation::measures::proportion::{Interval, Proportion};
use refract_service::marks::QueueKind;

use super::quality_view::{QualityView, address};
use crate::components::empty_state::empty_state;
use crate::components::number::{count, counted, measured_percent};

/// Numbers of marks to aim at.
const GOALS: [u64; 5] = [FEW_MARKS, 100, 200, 400, 1_000];

/// The page without marks: what to do, and what so many marks would show.
pub(super) fn none(view: &QualityView<'_>) -> Markup {
    let question = html! { p.asked { bdi { (view.question().text) } } };
    let left_out = view.quality.evaluated.left_out;
    if left_out > 0 {
        let all = view.link(&view.query().with("marks", Some("all")));
        let action = html! {
            p.row {
                a.button.main href=(view.queue(QueueKind::Random)) { "Mark random results" }
                a href=(all) { "Count them anyway" }
            }
        };
        let sentence = format!(
            "{}, but not of results drawn at random: no fair sample. Random ones show how often \
             these answers are right.",
            counted(left_out, "mark"),
        );
        return html! { (question) (empty_state(&sentence, &action)) };
    }
    if view.filters.is_narrowed() {
        let all = address(view.history);
        let clear = html! { a.button href=(all) { "Clear the filters" } };
        return html! { (question) (empty_state("No mark of this question matches.", &clear)) };
    }
    let action = html! {
        p { a.button.main href=(view.queue(QueueKind::Random)) { "Mark random results" } }
        p.soft { "A result that you judge takes one key. " (widths(Proportion::default())) "." }
    };
    let sentence = "How often are these answers right? Say so for some random results, \
        and this page measures all of them by yours.";
    html! { (question) (empty_state(sentence, &action)) }
}

/// What further marks would give, and the way to them.
pub(super) fn next_step(view: &QualityView<'_>) -> Markup {
    let accuracy = view.measures.accuracy;
    let is_few = view.measures.marks < FEW_MARKS;
    html! {
        p.row {
            a.button.main[is_few] href=(view.queue(QueueKind::Random)) { "Mark more random results" }
            span.soft {
                @if is_few {
                    strong { "Only " (counted(view.measures.marks, "mark")) ": any number here may be chance. " }
                }
                (widths(accuracy)) "."
            }
        }
    }
}

/// The expected half width of the interval after so many more answered marks.
fn widths(now: Proportion) -> Markup {
    let goals = GOALS
        .into_iter()
        .filter_map(|goal| goal.checked_sub(now.of));
    let steps: Vec<_> = goals.filter(|more| *more > 0).take(3).collect();
    html! {
        @if steps.is_empty() { (count(now.of)) " marks are plenty" }
        @for (place, more) in steps.into_iter().enumerate() {
            @let is_first = place == 0;
            @if !is_first { ", " }
            (count(more))
            @if is_first { @if now.of > 0 { " more" } @else { " marks" } " would give ± " } @else { " ± " }
            (points(now.interval_after(more)))
            @if is_first { " points" }
        }
    }
}

/// Half of an interval's width in points of percent.
fn points(interval: Option<Interval>) -> String {
    let points = measured_percent(interval.map(Interval::half_width));
    points.trim_end_matches(".0").to_owned()
}
