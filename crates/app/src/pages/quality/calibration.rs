//! Whether probabilities can be believed, and how many answers can do without a person.

use maud::{Markup, html};
use refract_domain::answer::probability::Probability;
use refract_domain::prism::question::QuestionType;
use refract_evaluation::measures::coverage::CoveragePoint;
use refract_evaluation::measures::reliability::ReliabilityBin;
use refract_evaluation::report::number;

use super::quality_view::QualityView;
use crate::components::number::{count, counted, measured_percent, percent};
use crate::components::plot::{Plot, PlotAxis};
use crate::components::table::table;

/// The section: both pictures, each with its table.
pub(super) fn section(view: &QualityView<'_>) -> Markup {
    let numbers = &view.measures;
    let question_type = view.question().question_type();
    html! {
        div.split {
            section {
                h2 { "Can the probabilities be believed?" }
                p.hint {
                    "On the dashed line, probabilities are exactly as often right as they state. \
                     The vertical lines are 95 % intervals. Mean gap (ECE): " (number(numbers.ece)) "."
                }
                (reliability(&numbers.reliability, question_type))
            }
            section {
                h2 { "How many answers can do without a person?" }
                p.hint {
                    "If people decide what is least confident, fewer answers are left, and more of them are right."
                    @if question_type == QuestionType::YesNo { " Yes and No count together here: the cutoffs above want each of them to be right." }
                }
                (coverage(&numbers.coverage.points))
            }
        }
    }
}

fn reliability(bins: &[ReliabilityBin], question_type: QuestionType) -> Markup {
    let (x, y) = match question_type {
        QuestionType::YesNo => ("Probability of yes, %", "Marked yes, %"),
        QuestionType::Choice | QuestionType::Scale => ("Probability of the answer, %", "Right, %"),
    };
    let words = format!(
        "{y} over {x}, in {}; the table has the numbers",
        counted(bins.len(), "group")
    );
    let plot = Plot {
        words: &words,
        x: PlotAxis::whole(x),
        y: PlotAxis::whole(y),
    };
    let share = |share| measured_percent(Some(share));
    let marks = html! {
        (Plot::diagonal())
        @for bin in bins {
            @let hover = format!("stated {} %, right {} % of {}", share(bin.mean_probability), share(bin.share_right), count(bin.count));
            (plot.point(bin.mean_probability, bin.share_right, Some(bin.interval()), &hover))
        }
    };
    let range =
        |from: Probability, to: Probability| format!("{} to {}", percent(from), percent(to));
    let rows = html! {
        @for bin in bins {
            tr {
                th scope="row" { (range(bin.from, bin.to)) }
                td.number { (share(bin.mean_probability)) }
                td.number { (share(bin.share_right)) }
                td.number { (count(bin.count)) }
            }
        }
    };
    html! {
        (plot.draw(&marks))
        details {
            summary { "The same as a table" }
            (table("Probabilities and shares", &["Probabilities, %", "Mean, %", y, "Marks"], &rows))
        }
    }
}

fn coverage(points: &[CoveragePoint]) -> Markup {
    let accuracies = points.iter().map(|point| point.accuracy);
    let plot = Plot {
        words: "Right answers, %, over answers left, %; the table has the numbers",
        x: PlotAxis::whole("Answers left, %"),
        y: PlotAxis::down_to("Right, %", accuracies),
    };
    let marks = html! {
        (plot.curve(points.iter().map(|point| (point.coverage, point.accuracy))))
        @for point in points {
            @let hover = format!(
                "from confidence {} %: {} % left, {} % of them right",
                measured_percent(Some(point.confidence)), measured_percent(Some(point.coverage)), measured_percent(Some(point.accuracy))
            );
            (plot.point(point.coverage, point.accuracy, None, &hover))
        }
    };
    let rows = html! {
        @for point in points {
            tr {
                th scope="row" { (measured_percent(Some(point.confidence))) }
                td.number { (measured_percent(Some(point.coverage))) }
                td.number { (measured_percent(Some(point.accuracy))) }
            }
        }
    };
    html! {
        (plot.draw(&marks))
        details {
            summary { "The same as a table" }
            (table("Accuracy by coverage", &["From confidence, %", "Answers left, %", "Right, %"], &rows))
        }
    }
}
