//! The measures of the question in one table, the accuracy first. Before that the state that
//! everybody sees first: no marks, or too few of them to rely on. And the accuracy by version, by
//! model and over time.

use maud::{Markup, html};
use refract_domain::ids::ResultId;
use refract_domain::prism::QuestionType;
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::cutoffs::FEW_MARKS;
use refract_evaluation::measures::{AnswersOfPeriod, Interval, Proportion, RightAnswers};
use refract_service::marks::QueueKind;

use super::quality_view::{QualityView, address};
use crate::components::{
    NoticeKind, Plot, PlotAxis, count, counted, empty_state, interval_bar, marks_noun,
    measured_percent, notice, proportion_range, report_table, stacked_table, without_outcome,
};

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

/// The most versions and the most models that are shown.
const MOST: usize = 20;

/// The accuracy by version, by model and over time.
pub(super) fn groups(view: &QualityView<'_>) -> Markup {
    html! {
        div.split {
            section {
                h2 { "By version" }
                (by_version(view))
                h2 { "By model" }
                (by_model(view))
            }
            section {
                h2 { "Over time" }
                (over_time(&view.quality.over_time))
            }
        }
    }
}

/// The newest versions, newest first.
fn by_version(view: &QualityView<'_>) -> Markup {
    let versions = view.quality.by_version.iter().rev().take(MOST);
    let rows = html! {
        @for (version, right) in versions {
            @let query = view.query().with("version", Some(&version.to_string()));
            tr {
                th scope="row" { a href=(view.link(&query)) { "Version " (version) } }
                (cells(right))
            }
        }
    };
    grouped("Accuracy by version", "Version", &rows)
}

fn by_model(view: &QualityView<'_>) -> Markup {
    let rows = html! {
        @for (model, right) in view.quality.by_model.iter().take(MOST) {
            tr {
                th scope="row" {
                    @match model {
                        Some(model) => {
                            a href=(view.link(&view.query().with("model", Some(model)))) { bdi { (model) } }
                        }
                        None => { "not reported" }
                    }
                }
                (cells(right))
            }
        }
    };
    grouped("Accuracy by model", "Model", &rows)
}

fn grouped(caption: &str, of: &str, rows: &Markup) -> Markup {
    stacked_table(caption, &[of, "Marks", "Answered", "Right", ""], rows)
}

fn cells(right: &RightAnswers) -> Markup {
    html! {
        td.number data-label="Marks" { (count(right.marks)) }
        td.number data-label="Answered" { (count(right.accuracy.of)) }
        td data-label="Right" { (proportion_range(right.accuracy)) }
        td { (interval_bar(right.accuracy.value(), right.accuracy.interval())) }
    }
}

/// Parts of equal count, with their intervals.
fn over_time(parts: &[AnswersOfPeriod]) -> Markup {
    if parts.is_empty() {
        return html! {
            p.soft { "From " (2 * FEW_MARKS) " marks on, they are divided by the time of their results." }
        };
    }
    let days = |part: &AnswersOfPeriod| {
        let day = |id: ResultId| id.moment().format("%Y-%m-%d").to_string();
        let (first, last) = (day(part.first), day(part.last));
        if first == last {
            first
        } else {
            format!("{first} to {last}")
        }
    };
    let known = parts
        .iter()
        .filter_map(|part| Some((part, part.right.accuracy.interval()?)));
    let plot = Plot {
        words: "Right answers, %, over time; the table has the numbers",
        x: PlotAxis::whole("Older to newer results").without_ticks(),
        y: PlotAxis::down_to("Right, %", known.clone().map(|(_, interval)| interval.low)),
    };
    let width = 1.0 / f64::from(u32::try_from(parts.len()).unwrap_or(1));
    let marks = html! {
        @for (number, part) in (0_u32..).zip(parts) {
            @if let (Some(share), Some(interval)) = (part.right.accuracy.value(), part.right.accuracy.interval()) {
                @let hover = format!("{}: {} %", days(part), measured_percent(Some(share)));
                (plot.point(width * (f64::from(number) + 0.5), share, Some(interval), &hover))
            }
        }
    };
    let rows = html! {
        @for part in parts {
            tr { th scope="row" { (days(part)) } (cells(&part.right)) }
        }
    };
    html! {
        p.hint { "Parts with as many marks each, by the time of their results, with 95 % intervals." }
        (plot.draw(&marks))
        details {
            summary { "The same as a table" }
            (grouped("Accuracy over time", "Results of", &rows))
        }
    }
}
