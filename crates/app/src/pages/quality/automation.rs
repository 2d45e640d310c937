//! What can be answered automatically: one table with the cutoffs in force, a guarantee and a rule of
//! thumb, one of them recommended, with links that put cutoffs into the lens's draft.

use maud::{Markup, html};
use refract_domain::lens::Cutoff;
use refract_domain::prism::QuestionType;
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::cutoffs::{CertifiedGoal, CutoffGoal, CutoffMeasures};
use refract_evaluation::report::{
    AutomationPlan, AutomationRow, COUNT_HEADINGS, GUARANTEE, RowBasis, RowCutoffs, TWO_FIGURES,
    others,
};
use refract_service::marks::QueueKind;

use super::quality_view::QualityView;
use crate::components::{
    FormField, count, counted, measured_percent, proportion_range, stacked_table,
};
use crate::requests::Query;

/// The goal that every question has: how many of 1,000 automatic answers may be wrong.
const WRONG: &str = "wrong";
/// The kinds of goals of a yes/no question, and their labels.
const GOALS: [(&str, &str); 4] = [
    (WRONG, "Wrong of 1,000, at most"),
    ("yes", "Yes right, %"),
    ("recall", "Yes finds, %"),
    ("cost", "Cost of a wrong Yes"),
];
/// The usual numbers of the first goals.
const USUAL: [(&str, &[&str]); 2] = [
    (WRONG, &["10", "50", "100", "200"]),
    ("yes", &["80", "90", "95"]),
];
/// How many of 1,000 answers may be wrong unless something else is asked for.
const MOST_WRONG: &str = "50";
/// The probability that is promised unless another one is asked for, in percent.
const SURE: &str = "95";
/// The validation error of a goal's number.
const NO_NUMBER: &str =
    "type a number: above 0 and below 1,000 wrong answers, a percentage up to 100, or a cost";

/// The goal as the address has it, or the usual one.
#[derive(Clone, Copy)]
struct AskedGoal<'a> {
    kind: &'a str,
    number: &'a str,
    sure: &'a str,
}

impl<'a> AskedGoal<'a> {
    fn read(view: &'a QualityView<'_>) -> Self {
        let is_yes_no = view.question().question_type() == QuestionType::YesNo;
        Self {
            kind: view.asked("goal").filter(|_| is_yes_no).unwrap_or(WRONG),
            number: view.asked("wanted").unwrap_or(MOST_WRONG),
            sure: view.asked("sure").unwrap_or(SURE),
        }
    }
}

/// What is asked for: a goal, and a promise where there can be one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wanted {
    goal: CutoffGoal,
    promise: Option<CertifiedGoal>,
}

/// The section.
pub(super) fn section(view: &QualityView<'_>) -> Markup {
    let asked = AskedGoal::read(view);
    let wanted = goal(asked.kind, asked.number, asked.sure);
    let is_refused = wanted.is_none();
    let wanted = wanted.or_else(|| goal(WRONG, MOST_WRONG, SURE));
    let is_fair = match view.filters.filter.from {
        MarksFrom::Random => true,
        MarksFrom::All => false,
    };
    let marked = &view.quality.evaluated.marked;
    let plan = wanted.map(|wanted| {
        let promise = wanted.promise.filter(|_| is_fair);
        marked.automation_plan(wanted.goal, promise)
    });
    html! {
        section #cutoffs {
            h2 { "What can be answered automatically?" }
            (goal_form(view, asked, is_refused))
            @if let Some(plan) = &plan {
                (recommended(view, plan))
                (table(view, plan))
                (behind_the_rule(plan))
                p.hint { (TWO_FIGURES) }
                @if plan.rows.iter().any(|row| row.basis == RowBasis::Guarantee) { p.hint { (GUARANTEE) } }
                @if !is_fair {
                    p.hint { "Marks of results that somebody chose guarantee nothing. Count random and imported ones alone." }
                }
                (by_answer(plan, view))
            }
        }
    }
}

/// The form that asks for a goal, with the usual ones as links.
fn goal_form(view: &QualityView<'_>, asked: AskedGoal<'_>, is_refused: bool) -> Markup {
    let is_yes_no = view.question().question_type() == QuestionType::YesNo;
    let [(_, only_goal), ..] = GOALS;
    let number = if is_yes_no { "Number" } else { only_goal };
    let number = FormField::new("wanted", number).value(asked.number);
    let number = number.error(if is_refused { NO_NUMBER } else { "" });
    // 95 % is what the sentence explains: another probability is for those who ask for it by address
    let is_sure = asked.sure != SURE;
    let sure = FormField::new("sure", "Sure of that to, %").value(asked.sure);
    let is_asked = |kind, wanted| (kind, wanted) == (asked.kind, asked.number);
    html! {
        p.hint { "How good must automatic answers be?" }
        form.filters method="get" action={ (view.link(&Query::default())) "#cutoffs" } aria-label="Goal" {
            (view.query().inputs())
            @if is_yes_no { (FormField::new("goal", "Goal").value(asked.kind).choice(&GOALS)) }
            (number.line("text", "off"))
            @if is_sure { (sure.line("text", "off")) }
            button type="submit" { "Find the cutoffs" }
        }
        @for (kind, numbers) in USUAL {
            @if (kind == WRONG || is_yes_no) && let Some((_, label)) = GOALS.iter().find(|goal| goal.0 == kind) {
                p.row {
                    span.soft { (label) ":" }
                    @for number in numbers {
                        a href=(goal_link(view, kind, number)) aria-current=[is_asked(kind, number).then_some("true")] { (number) }
                    }
                }
            }
        }
    }
}

/// What to do, what happens then, and the next step.
fn recommended(view: &QualityView<'_>, plan: &AutomationPlan) -> Markup {
    html! {
        div.recommended {
            p { strong { (plan.headline()) } " " (plan.outlook()) }
            p.row {
                @if let Some(row) = plan.recommended_row() && !plan.keeps_cutoffs() { (draft_link(view, row, true)) }
                @if let Some(step) = plan.next_step() { span { (step) } " " (reached(view, plan)) }
            }
        }
    }
}

/// The way to a guarantee that these marks give already.
fn reached(view: &QualityView<'_>, plan: &AutomationPlan) -> Markup {
    html! {
        @if let Some(error) = plan.laxer {
            a href=(goal_link(view, WRONG, &(error * 1000.0).round().to_string())) { "Ask for it" }
        }
    }
}

/// The address of the section for another goal, with the probability that was asked for.
fn goal_link(view: &QualityView<'_>, kind: &str, number: &str) -> String {
    let query = view.query().with("goal", Some(kind));
    let query = query.with("wanted", Some(number));
    let query = query.with("sure", view.asked("sure"));
    format!("{}#cutoffs", view.link(&query))
}

fn table(view: &QualityView<'_>, plan: &AutomationPlan) -> Markup {
    let [automatic, wrong, new_ones] = COUNT_HEADINGS;
    let headings: &[&str] = match plan.question_type {
        QuestionType::YesNo => &["", "No below", "Yes from", automatic, wrong, new_ones, ""],
        QuestionType::Choice | QuestionType::Scale => {
            &["", "From confidence", automatic, wrong, new_ones, ""]
        }
    };
    let columns = headings.len().saturating_sub(1);
    let missing = [
        ("Guarantee", plan.no_guarantee()),
        ("Rule of thumb", plan.no_rule()),
    ];
    let rows = html! {
        @for (place, row) in plan.rows.iter().enumerate() { (table_row(view, plan, row, plan.recommended == Some(place))) }
        @for (name, reason) in missing {
            @if let Some(reason) = reason {
                tr {
                    th scope="row" { (name) }
                    td colspan=(columns) { span.soft { (reason) } }
                }
            }
        }
    };
    stacked_table(&plan.wanted(), headings, &rows)
}

fn table_row(
    view: &QualityView<'_>,
    plan: &AutomationPlan,
    row: &AutomationRow,
    is_recommended: bool,
) -> Markup {
    let wrong = format!("{} of {}", count(row.wrong.count), count(row.wrong.of));
    let [automatic, marked, new_ones] = COUNT_HEADINGS;
    html! {
        tr.chosen[is_recommended] {
            th scope="row" {
                (row.name())
                @if row.basis == RowBasis::Guarantee && let Some(promise) = plan.promise { div.hint { (percent(promise.sure())) " % sure" } }
                @if is_recommended { div.hint { "Recommended" } }
            }
            @match row.cutoffs {
                RowCutoffs::YesNo(cutoffs) => {
                    td data-label="No below" { (cutoff(cutoffs.no_ends_at())) }
                    td data-label="Yes from" { (cutoff(cutoffs.yes_begins_at())) }
                }
                RowCutoffs::Confidence(confidence) => {
                    td data-label="From confidence" { (measured_percent(Some(confidence))) " %" }
                }
            }
            td data-label=(automatic) { (measured_percent(row.automatic.value())) " %" }
            td data-label=(marked) { (wrong) }
            td data-label=(new_ones) { (row.wrong_of_thousand()) }
            td {
                @if row.basis != RowBasis::Now { (draft_link(view, row, false)) }
            }
        }
    }
}

/// What the rule of thumb rests on.
fn behind_the_rule(plan: &AutomationPlan) -> Markup {
    let has_rule = plan
        .rows
        .iter()
        .any(|row| row.basis == RowBasis::RuleOfThumb);
    let Some(advice) = plan.advice.as_ref().filter(|_| has_rule) else {
        return html! {};
    };
    let is_few = advice.is_of_few_marks();
    html! {
        @if advice.yes_gap.is_some() || is_few || advice.held_out.cost.is_some() {
            p.hint {
                "The rule of thumb: "
                @if let Some((low, high)) = advice.yes_gap {
                    "Yes from " (percent(low)) " to " (percent(high)) " % finds the same, the middle is taken. "
                }
                @if is_few { "Based on only " (counted(advice.behind, "mark")) ": may be chance. " }
                @if let Some(cost) = advice.held_out.cost { "Costs " (format!("{cost:.3}")) " an answer." }
            }
        }
    }
}

/// The way to the lens with the cutoffs of a row as a draft.
fn draft_link(view: &QualityView<'_>, row: &AutomationRow, is_main: bool) -> Markup {
    let RowCutoffs::YesNo(cutoffs) = row.cutoffs else {
        return html! {};
    };
    if row.cutoffs.are(RowCutoffs::YesNo(view.quality.cutoffs)) {
        return html! { "As it is now" };
    }
    html! {
        @if let Some(draft) = view.draft(cutoffs) {
            a.button[is_main].main[is_main] href=(draft) { "Try in the lens" }
        }
    }
}

/// How often Yes and No are right by themselves, over all marks, and for the rule of thumb over those
/// that did not choose it.
fn by_answer(plan: &AutomationPlan, view: &QualityView<'_>) -> Markup {
    let marked = &view.quality.evaluated.marked;
    let measured = |row: &AutomationRow| match row.cutoffs {
        RowCutoffs::YesNo(cutoffs) => Some((row.name(), marked.measures_at(cutoffs)?)),
        RowCutoffs::Confidence(_) => None,
    };
    let rows: Vec<_> = plan.rows.iter().filter_map(measured).collect();
    // what is asked for stands here, not in the table of all answers
    let is_goal = matches!(
        plan.goal,
        CutoffGoal::YesPrecision(_) | CutoffGoal::Recall(_)
    );
    let held_out = plan.advice.as_ref();
    let held_out = held_out.filter(|advice| advice.yes_from.is_some());
    let cells = |measures: &CutoffMeasures| {
        [
            ("Yes is right", proportion_range(measures.precision)),
            ("Yes finds", proportion_range(measures.recall)),
            ("No is right", proportion_range(measures.no_precision)),
            ("Not Unsure", proportion_range(measures.coverage)),
        ]
    };
    let row = |name: &str, on: &str, measures: &CutoffMeasures| {
        html! {
            tr {
                th scope="row" { (name) }
                td data-label="On" { (on) }
                @for (label, cell) in cells(measures) { td data-label=(label) { (cell) } }
            }
        }
    };
    let lines = html! {
        @for (name, measures) in &rows { (row(name, "all marks", measures)) }
        @if let Some(advice) = held_out { (row("Rule of thumb", "marks that did not choose it", &advice.held_out)) }
    };
    let headings = [
        "",
        "On",
        "Yes is right",
        "Yes finds",
        "No is right",
        "Not Unsure",
    ];
    html! {
        @if !rows.is_empty() {
            details open[is_goal] {
                summary { "Yes and No by themselves" }
                (stacked_table("Yes and No by themselves", &headings, &lines))
                @if view.is_in_latest() {
                    p { a href=(view.queue(QueueKind::Near)) { "Review results near a cutoff" } }
                }
            }
        }
    }
}

/// Parses a goal, and how sure its promise must be in percent; `None` for numbers outside their range.
fn goal(kind: &str, number: &str, sure: &str) -> Option<Wanted> {
    let parsed = |text: &str| text.trim_end_matches('%').trim().parse::<f64>().ok();
    let (number, sure) = (parsed(number)?, parsed(sure)?);
    let is_share = number > 0.0 && number <= 100.0;
    let goal = match kind {
        "yes" => is_share.then_some(CutoffGoal::YesPrecision(number / 100.0)),
        "recall" => is_share.then_some(CutoffGoal::Recall(number / 100.0)),
        "cost" => (number > 0.0 && number.is_finite()).then_some(CutoffGoal::Costs {
            wrong_yes: number,
            wrong_no: 1.0,
        }),
        _ => {
            let promise = CertifiedGoal::new(number / 1000.0, sure / 100.0)?;
            return Some(Wanted {
                goal: CutoffGoal::Precision(others(promise.error())),
                promise: Some(promise),
            });
        }
    }?;
    Some(Wanted {
        goal,
        promise: None,
    })
}

fn cutoff(cutoff: Cutoff) -> String {
    format!("{} %", percent(cutoff.value()))
}

/// A cutoff in percent, with as many decimals as it has.
fn percent(share: f64) -> String {
    let text = format!("{:.4}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_a_number_of_wrong_answers_a_percentage_or_a_cost() {
        let limited = goal(WRONG, "50", "95").unwrap();
        assert_eq!(limited.promise, CertifiedGoal::new(0.05, 0.95));
        assert_eq!(limited.goal, CutoffGoal::Precision(0.95));
        let found = |kind, number| goal(kind, number, SURE).map(|wanted| wanted.goal);
        assert_eq!(found("recall", "99.5 %"), Some(CutoffGoal::Recall(0.995)));
        assert_eq!(found("yes", "100"), Some(CutoffGoal::YesPrecision(1.0)));
        let costs = CutoffGoal::Costs {
            wrong_yes: 250.0,
            wrong_no: 1.0,
        };
        assert_eq!(found("cost", "250"), Some(costs));
        for wrong in ["0", "-1", "101", "NaN", "inf", "x", "%"] {
            assert_eq!(found("recall", wrong), None, "{wrong}");
        }
        assert_eq!(found("cost", "inf"), None);
        for (most, sure) in [
            ("0", "95"),
            ("1000", "95"),
            ("50", "100"),
            ("x", "95"),
            ("5", ""),
        ] {
            assert_eq!(goal(WRONG, most, sure), None, "{most} {sure}");
        }
        assert_eq!(percent(0.405), "40.5");
    }
}
