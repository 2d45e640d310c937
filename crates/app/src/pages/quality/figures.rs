//! The measures of the question in one table, the accuracy first. Before that the state that everybody
//! sees first: no marks, or too few of them to rely on.

use maud::{Markup, html};
use refract_domain::prism::question::QuestionType;
use refract_domain::result::mark::source::MarksFrom;
use refract_evaluation::cutoffs::advice::FEW_MARKS;
use refract_evaluation::measures::proportion::{Interval, Proportion};
use refract_service::marks::QueueKind;

use super::quality_view::{QualityView, address};
use crate::components::bar::interval_bar;
use crate::components::notice::{NoticeKind, empty_state, notice};
use crate::components::number::{count, counted, measured_percent};
use crate::components::report::{marks_noun, report_table, without_outcome};

/// The section.
pub(super) fn section(view: &QualityView<'_>) -> Markup {
    let numbers = &view.measures;
    let marks = marks_noun(view.filters.filter.from);
    html! {
        section.measured {
            h2 { bdi { (view.question().text) } }
            p.headline {
                (value("accuracy", numbers.accuracy.value(), &format!("{} %", measured_percent(numbers.accuracy.value()))))
                " right"
                @if let Some(Interval { low, high }) = numbers.accuracy.interval() {
                    span.soft {
                        ", with 95 % confidence between "
                        (value("accuracy_low", Some(low), &measured_percent(Some(low)))) " and "
                        (value("accuracy_high", Some(high), &measured_percent(Some(high)))) " %"
                    }
                }
            }
            (interval_bar(numbers.accuracy.value(), numbers.accuracy.interval()))
            p {
                (counted(numbers.marks, marks))
                (without_outcome(numbers.marks, numbers.answered, view.question().question_type()))
                ". " (origin(view))
                @if view.question().question_type() == QuestionType::YesNo {
                    " Yes and No count together, by the cutoffs in force: Lens has them apart, for any cutoffs."
                }
            }
            (which_marks(view))
            (next_step(view))
            details {
                summary { "All figures" }
                (report_table(&numbers.figures(), view.question()))
                @if let Some(sentence) = numbers.log_loss_of_zero() { p.hint { (sentence) } }
            }
        }
    }
}

/// Which marks count: those that are no fair sample are left out, or a warning that they count.
fn which_marks(view: &QualityView<'_>) -> Markup {
    let left_out = view.quality.evaluated.left_out;
    match view.filters.filter.from {
        MarksFrom::All => {
            let words = html! {
                "All marks count, and they are no fair sample: who marks the least sure answers finds \
                 more wrong ones than there are. "
                a href=(view.link(&view.query().with("marks", None))) { "Count only random and imported ones" }
            };
            notice(NoticeKind::Warning, &words)
        }
        MarksFrom::Random if left_out > 0 => html! {
            p.soft {
                (counted(left_out, "other mark")) " left out: their results were chosen, so they are no fair sample. "
                a href=(view.link(&view.query().with("marks", Some("all")))) { "Count all" }
            }
        },
        MarksFrom::Random => html! {},
    }
}

/// Which version and model gave the answers.
fn origin(view: &QualityView<'_>) -> Markup {
    let evaluated = &view.quality.evaluated;
    html! {
        @match evaluated.version() {
            Some(version) => { "Version " (version) }
            None => { "Several versions" }
        }
        ", "
        @match evaluated.model() {
            Some(model) => { "model " bdi { (model) } }
            None => { "several or unknown models" }
        }
        "."
    }
}

/// A figure with its exact value.
fn value(name: &str, exact: Option<f64>, shown: &str) -> Markup {
    html! { data data-figure=(name) value=[exact] { (shown) } }
}

/// Numbers of marks to aim at.
const GOALS: [u64; 5] = [FEW_MARKS, 100, 200, 400, 1_000];

/// The page without marks: what to do, and what so many marks would show.
pub(super) fn no_marks(view: &QualityView<'_>) -> Markup {
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
fn next_step(view: &QualityView<'_>) -> Markup {
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
            (points(now.half_width_after(more)))
            @if is_first { " points" }
        }
    }
}

/// Half of an interval's width in points of percent.
fn points(half_width: Option<f64>) -> String {
    let points = measured_percent(half_width);
    points.trim_end_matches(".0").to_owned()
}
