//! The accuracy by version, by model and over time.

use maud::{Markup, html};
use refract_domain::ids::ResultId;
use refract_evaluation::cutoffs::advice::FEW_MARKS;
use refract_evaluation::measures::right_answers::{AnswersOfPeriod, RightAnswers};

use super::quality_view::QualityView;
use crate::components::bar::{interval_bar, proportion_range};
use crate::components::number::{count, measured_percent};
use crate::components::plot::{Plot, PlotAxis};
use crate::components::table::stacked_table;

/// The most versions and the most models that are shown.
const MOST: usize = 20;

/// The section.
pub(super) fn section(view: &QualityView<'_>) -> Markup {
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
