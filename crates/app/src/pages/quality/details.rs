//! The folds of a question: which outcome is taken for which, in a table whose cells lead to the
//! results, with precision, recall and F1 of each outcome; how far people agree who marked the same
//! texts; whether probabilities can be believed, and how many answers can do without a person.

use std::collections::HashMap;

use maud::{Markup, html};
use refract_domain::answer::Probability;
use refract_domain::prism::QuestionType;
use refract_evaluation::measures::{
    ConfusionCell, CoveragePoint, ReliabilityBin, UndefinedAgreement,
};
use refract_evaluation::report::number;
use refract_service::marks::QueueKind;

use super::quality_view::QualityView;
use crate::components::{
    Plot, PlotAxis, count, counted, measured_percent, percent, proportion_range, report, table,
    table_with,
};
use crate::replies::PageError;
use crate::requests::{Query, Visit};

/// The most outcomes of a confusion table.
const MOST_IN_TABLE: usize = 10;
/// The most mistakes that are listed if there is no table; the file has all.
const MOST_MISTAKES: usize = 30;
/// The most outcomes in the table of measures; the file has all.
const MOST: usize = 20;

/// Which outcome is taken for which: the confusion table, or the most frequent mistakes, and the
/// measures by outcome.
pub(super) fn outcomes(view: &QualityView<'_>) -> Markup {
    let outcomes = view.measures.outcomes.iter();
    let seen = outcomes.filter(|outcome| outcome.marked + outcome.predicted > 0);
    let query = view.query();
    html! {
        div.split {
            section #confusion {
                h2 { "What is taken for what" }
                @if seen.count() <= MOST_IN_TABLE { (matrix(view)) } @else { (mistakes(view)) }
                p { a href=(view.link_to("/quality/download", &query)) download { "Download the table" } }
            }
            section {
                h2 { "By outcome" }
                (report(&view.measures.by_outcome(MOST), view.question()))
            }
        }
    }
}

/// Rows by marked outcome, columns by predicted one.
fn matrix(view: &QualityView<'_>) -> Markup {
    let outcomes = view.measures.outcomes.iter();
    let seen: Vec<_> = outcomes
        .filter(|outcome| outcome.marked + outcome.predicted > 0)
        .map(|outcome| &outcome.key)
        .collect();
    let cells = view.measures.confusion.iter();
    let cells: HashMap<_, _> = cells
        .map(|cell| ((&cell.marked, &cell.predicted), cell))
        .collect();
    let headings = html! {
        tr {
            th scope="col" { "Marked ↓ answered →" }
            @for predicted in &seen { th scope="col" { bdi { (view.label(predicted)) } } }
        }
    };
    let rows = html! {
        @for marked in &seen {
            tr {
                th scope="row" { bdi { (view.label(marked)) } }
                @for predicted in &seen {
                    td.number.right[marked == predicted] {
                        @match cells.get(&(*marked, *predicted)) {
                            None => { "·" }
                            Some(cell) => { (linked(view, cell)) }
                        }
                    }
                }
            }
        }
    };
    html! {
        div.confusion { (table_with("Marked and answered outcomes", &headings, &rows)) }
        p.hint { "Bold counts are right. Each leads to its results." }
    }
}

fn linked(view: &QualityView<'_>, cell: &ConfusionCell) -> Markup {
    html! { a href=(view.results(&cell.marked, &cell.predicted)) { (count(cell.count)) } }
}

/// The most frequent pairs of a marked and another predicted outcome.
fn mistakes(view: &QualityView<'_>) -> Markup {
    let wrong = view.measures.mistakes();
    let rows = html! {
        @for cell in wrong.iter().take(MOST_MISTAKES) {
            tr {
                th scope="row" { bdi { (view.label(&cell.marked)) } }
                td { bdi { (view.label(&cell.predicted)) } }
                td.number { (linked(view, cell)) }
            }
        }
    };
    let rest = wrong.len().saturating_sub(MOST_MISTAKES);
    html! {
        @if wrong.is_empty() {
            p.soft { "No marked answer is wrong." }
        } @else {
            (table("The most frequent mistakes", &["Marked", "Answered", "Results"], &rows))
        }
        @if rest > 0 { p.soft { "and " (count(rest)) " rarer kinds, which the file has." } }
    }
}

/// How far people agree who marked the same texts.
pub(super) async fn agreement(visit: &Visit, view: &QualityView<'_>) -> Result<Markup, PageError> {
    let (question, filters) = (view.question(), &view.filters.filter);
    let (filter, from) = (filters.results.clone(), filters.from);
    let measuring =
        visit
            .refract
            .measures()
            .agreement(view.history, Some(&question.key), filter, from);
    let measured = measuring.await?;
    let Some(agreement) = measured.first().map(|it| &it.agreement) else {
        return Ok(html! {});
    };
    let shared = Query::default().with("question", Some(question.key.as_str()));
    let shared = view.link_to("/review", &shared.with("shared", Some("1")));
    Ok(html! {
        section #agreement {
            h2 { "Do people agree?" }
            @if agreement.texts == 0 {
                p {
                    "Nobody has marked a text that somebody else marked. Where two people differ, no "
                    "prism can be right: let a second person mark some fifty texts."
                }
                p { a.button href=(shared) { "Mark what others have marked" } }
            } @else {
                p {
                    (count(u64::try_from(agreement.people).unwrap_or(u64::MAX))) " people marked "
                    (counted(agreement.texts, "text")) " in common. Of two marks of one text, "
                    strong { (proportion_range(agreement.pairs)) } " are the same."
                }
                dl.facts {
                    @if agreement.kappa.is_some() {
                        dt { "Cohen's kappa" } dd { (number(agreement.kappa)) }
                    }
                    @if agreement.quadratic_kappa.is_some() {
                        dt { "Quadratic kappa" } dd { (number(agreement.quadratic_kappa)) }
                    }
                    @if agreement.alpha.is_some() {
                        dt { "Krippendorff's alpha" } dd { (number(agreement.alpha)) }
                    }
                }
                p.hint {
                    @match agreement.undefined {
                        Some(undefined @ UndefinedAgreement::AllAlike) => (undefined.message()),
                        Some(UndefinedAgreement::NoPair | UndefinedAgreement::MoreThanTwo) | None => {
                            "1 is full agreement, 0 what chance gives."
                        }
                    }
                }
                @if agreement.pairs.count < agreement.pairs.of {
                    p { a.button href=(view.queue(QueueKind::Differ)) { "Settle where two differ" } }
                }
            }
        }
    })
}

/// Whether probabilities can be believed, and how many answers can do without a person: two
/// pictures, each with its table.
pub(super) fn calibration(view: &QualityView<'_>) -> Markup {
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
