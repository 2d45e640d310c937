//! The cutoffs of a Yes / No question for a goal, with a link that puts them into the lens's draft.

use maud::{Markup, html};
use refract_domain::lens::cutoffs::{Cutoff, Cutoffs};
use refract_domain::prism::question::QuestionType;
use refract_evaluation::cutoffs::advice::{CutoffAdvice, CutoffGoal, FEW_MARKS};
use refract_evaluation::cutoffs::trial::CutoffMeasures;
use refract_service::marks::QueueKind;

use super::quality_view::QualityView;
use crate::components::bar::proportion_range;
use crate::components::field::FormField;
use crate::components::number::{count, counted};
use crate::components::table::stacked_table;
use crate::requests::page_request::Query;

/// The goals that are always shown: how often Yes and No must each be right.
const PRECISIONS: [f64; 4] = [0.8, 0.9, 0.95, 0.99];
/// The kinds of goals, and their labels.
const GOALS: [(&str, &str); 3] = [
    ("precision", "Yes and No right, %"),
    ("recall", "Yes finds, %"),
    ("cost", "Cost of a wrong Yes"),
];
/// The validation error of a goal's number.
const NO_NUMBER: &str = "is no number above 0; a percentage is at most 100";

/// The section; empty for questions without cutoffs.
pub(super) fn section(view: &QualityView<'_>) -> Markup {
    match view.question().question_type() {
        QuestionType::YesNo => cutoffs(view),
        QuestionType::Choice | QuestionType::Scale => html! {},
    }
}

fn cutoffs(view: &QualityView<'_>) -> Markup {
    let wanted = view.asked("wanted");
    let own = wanted.map(|wanted| goal(view.asked("goal").unwrap_or_default(), wanted));
    let is_wrong = matches!(own, Some(None));
    let own = own.flatten();
    let marked = &view.quality.evaluated.marked;
    let goals = PRECISIONS.map(CutoffGoal::Precision).into_iter();
    let advised = goals.filter_map(|goal| Some((goal, marked.advise_cutoffs(goal)?)));
    let (reached, missed): (Vec<_>, Vec<_>) =
        advised.partition(|(_, advice)| advice.yes_from.is_some());
    let own = own.and_then(|goal| Some((goal, marked.advise_cutoffs(goal)?)));
    let rows = html! {
        @if let Some(measures) = marked.measures_in_force() { (in_force(view.quality.cutoffs, &measures)) }
        @if let Some((goal, advice)) = &own { (row(view, *goal, advice, true)) }
        @for (goal, advice) in &reached { (row(view, *goal, advice, false)) }
    };
    let headings = [
        "Wanted",
        "No below",
        "Yes from",
        "Yes is right",
        "Yes finds",
        "No is right",
        "Not Unsure",
        "",
    ];
    html! {
        section #cutoffs {
            h2 { "Which cutoffs give that" }
            p.hint {
                "The cutoffs of the lens are measured on all marks; the others on marks that did not choose \
                 them: expect this of new results."
                @if view.is_in_latest() {
                    " " a href=(view.queue(QueueKind::Near)) { "Review results near a cutoff" } "."
                }
            }
            (stacked_table("Cutoffs for a goal", &headings, &rows))
            @if let Some((goal, advice)) = missed.first() {
                p {
                    "For " (describe(*goal)) @if missed.len() > 1 { " and more" } ": "
                    (out_of_reach(*goal, advice))
                }
            }
            (form(view, is_wrong))
        }
    }
}

/// The row of the cutoffs that the lens has now.
fn in_force(cutoffs: Cutoffs, measures: &CutoffMeasures) -> Markup {
    let [no_below, yes_from] = [cutoffs.no_ends_at(), cutoffs.yes_begins_at()].map(Cutoff::value);
    html! {
        tr {
            th scope="row" { "Now" }
            (cells(Some(no_below), Some(yes_from), measures))
            td {}
        }
    }
}

fn cells(no_below: Option<f64>, yes_from: Option<f64>, measures: &CutoffMeasures) -> Markup {
    let cutoff = |share: Option<f64>| {
        share.map_or_else(|| "–".to_owned(), |share| format!("{} %", percent(share)))
    };
    let cells = [
        ("No below", cutoff(no_below)),
        ("Yes from", cutoff(yes_from)),
        ("Yes is right", proportion_range(measures.precision)),
        ("Yes finds", proportion_range(measures.recall)),
        ("No is right", proportion_range(measures.no_precision)),
        ("Not Unsure", proportion_range(measures.coverage)),
    ];
    html! { @for (label, cell) in cells { td data-label=(label) { (cell) } } }
}

/// A cutoff in percent, with as many decimals as it has.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.4}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn row(view: &QualityView<'_>, goal: CutoffGoal, advice: &CutoffAdvice, is_own: bool) -> Markup {
    let held_out = &advice.held_out;
    let now = view.quality.cutoffs;
    let advised = advice.cutoffs(now);
    let is_now = advice.is_in_force(now);
    html! {
        tr.chosen[is_own] {
            th scope="row" { (describe(goal)) @if is_own { span.unseen { ", your goal" } } }
            @if advice.yes_from.is_none() {
                td colspan="7" { (out_of_reach(goal, advice)) }
            } @else {
                (cells(advice.no_below, advice.yes_from, held_out))
                td {
                    @if is_now { "As it is now" }
                    @else if let Some(draft) = advised.and_then(|cutoffs| view.draft(cutoffs)) { a href=(draft) { "Try in the lens" } }
                    @if let Some((low, high)) = advice.yes_gap {
                        div.hint { "Yes from " (percent(low)) " to " (percent(high)) " % finds the same: the middle is taken" }
                    }
                    @if advice.is_of_few_marks() {
                        div.hint { "Based on only " (counted(advice.behind, "mark")) ": may be chance" }
                    }
                    @if let Some(cost) = held_out.cost { div.hint { "Costs " (format!("{cost:.3}")) " an answer" } }
                }
            }
        }
    }
}

fn describe(goal: CutoffGoal) -> String {
    match goal {
        CutoffGoal::Precision(share) => format!("{} % right", percent(share)),
        CutoffGoal::Recall(share) => format!("{} % found", percent(share)),
        CutoffGoal::Costs { wrong_yes, .. } => format!("least costs, a wrong Yes {wrong_yes}"),
    }
}

/// Why there are no cutoffs for a goal.
fn out_of_reach(goal: CutoffGoal, advice: &CutoffAdvice) -> Markup {
    html! {
        span.soft {
            @if !advice.has_both_marks() {
                "no advice, which needs marks of yes and of no; of "
                (counted(advice.marks, "mark")) " " (count(advice.marked_yes)) " are yes."
            } @else if advice.marks < FEW_MARKS {
                "no advice from " (counted(advice.marks, "mark")) ": mark more."
            } @else {
                @match goal {
                    CutoffGoal::Precision(_) => { "no cutoff is right so often on marks that did not choose it." }
                    CutoffGoal::Recall(_) => { "no cutoff finds so many on marks that did not choose it." }
                    CutoffGoal::Costs { .. } => { "there are no marks to weigh costs by." }
                }
            }
        }
    }
}

fn form(view: &QualityView<'_>, is_wrong: bool) -> Markup {
    let goals =
        FormField::new("goal", "Another goal").value(view.asked("goal").unwrap_or_default());
    let wanted = FormField::new("wanted", "Number").value(view.asked("wanted").unwrap_or_default());
    let wanted = wanted.error(if is_wrong { NO_NUMBER } else { "" });
    html! {
        form.filters method="get" action={ (view.link(&Query::default())) "#cutoffs" } aria-label="Another goal" {
            (view.query().inputs())
            (goals.choice(&GOALS))
            (wanted.line("text", "off"))
            button type="submit" { "Find the cutoffs" }
        }
    }
}

/// Parses a goal; `None` for a number outside its range.
fn goal(kind: &str, wanted: &str) -> Option<CutoffGoal> {
    let number: f64 = wanted.trim_end_matches('%').trim().parse().ok()?;
    let is_share = number > 0.0 && number <= 100.0;
    match kind {
        "recall" => is_share.then_some(CutoffGoal::Recall(number / 100.0)),
        "cost" => (number > 0.0 && number.is_finite()).then_some(CutoffGoal::Costs {
            wrong_yes: number,
            wrong_no: 1.0,
        }),
        _ => is_share.then_some(CutoffGoal::Precision(number / 100.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_a_percentage_or_a_cost() {
        assert_eq!(goal("precision", "95"), Some(CutoffGoal::Precision(0.95)));
        assert_eq!(goal("recall", "99.5 %"), Some(CutoffGoal::Recall(0.995)));
        let costs = CutoffGoal::Costs {
            wrong_yes: 250.0,
            wrong_no: 1.0,
        };
        assert_eq!(goal("cost", "250"), Some(costs));
        for wrong in ["0", "-1", "101", "NaN", "inf", "x", "%"] {
            assert_eq!(goal("precision", wrong), None, "{wrong}");
        }
        assert_eq!(goal("cost", "inf"), None);
        assert_eq!(percent(0.405), "40.5");
    }
}
