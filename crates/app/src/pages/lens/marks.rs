//! The marked answers of the question in the middle of the page: how good its cutoffs are, and which
//! ones the marks recommend for a wanted precision.

use maud::{Markup, html};
use refract_domain::key::QuestionKey;
use refract_domain::lens::Cutoffs;
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::counting::PercentCutoffs;
use refract_evaluation::cutoffs::{CertifiedGoal, CutoffGoal, CutoffMeasures, PercentMeasures};
use refract_evaluation::marked::MarkedAnswers;
use refract_evaluation::measures::Proportion;
use refract_evaluation::report::{AutomationPlan, RowCutoffs, others};
use refract_service::lenses::PrismLens;
use refract_service::measures::EvaluationError;
use refract_service::results::ResultFilter;
use serde_json::json;

use super::lens_form::to_share;
use super::state::LensView;
use crate::components::{count, share};
use crate::replies::PageError;
use crate::requests::Visit;

/// A measure of the cutoffs of a Yes / No question.
#[derive(Clone, Copy)]
enum Measure {
    /// Marked yes among those answered Yes.
    Precision,
    /// Answered Yes among those marked yes.
    Recall,
    /// Marked no among those answered No.
    NoPrecision,
}

impl Measure {
    const ALL: [Self; 3] = [Self::Precision, Self::Recall, Self::NoPrecision];

    fn name(self) -> &'static str {
        match self {
            Self::Precision => "precision",
            Self::Recall => "recall",
            Self::NoPrecision => "no_precision",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Precision => "Yes is right (precision)",
            Self::Recall => "Yes is found (recall)",
            Self::NoPrecision => "No is right",
        }
    }

    fn of(self, measures: &CutoffMeasures) -> Proportion {
        match self {
            Self::Precision => measures.precision,
            Self::Recall => measures.recall,
            Self::NoPrecision => measures.no_precision,
        }
    }
}

/// The marked answers to a question that are a fair sample; `None` without such marks.
pub(super) async fn marked_answers(
    visit: &Visit,
    lens: &PrismLens,
    question: &str,
) -> Result<Option<MarkedAnswers>, PageError> {
    let Ok(key) = QuestionKey::parse(question) else {
        return Ok(None);
    };
    let history = visit.refract.prisms().with_versions(lens.prism.id).await?;
    let filter = ResultFilter {
        is_ok: Some(true),
        ..ResultFilter::default()
    };
    let measures = visit.refract.measures();
    let evaluating = measures.evaluate(&history, Some(&key), filter, MarksFrom::default(), |_| ());
    let evaluated = match evaluating.await {
        Ok(evaluated) => evaluated,
        Err(EvaluationError::Read(error)) => return Err(error.into()),
        // marks of a version with other outcomes: the Quality page says which
        Err(EvaluationError::NotComparable(_)) => return Ok(None),
    };
    let marked = evaluated.into_iter().next().map(|found| found.marked);
    Ok(marked.filter(|marked| !marked.is_empty()))
}

/// The plan for a precision in percent, as the Quality page and `refract evaluate --advise` make it;
/// `None` for a text that is no percentage of at most 100.
pub(super) fn plan(marked: &MarkedAnswers, precision: &str) -> Option<AutomationPlan> {
    let share: f64 = to_share(precision.trim())?.parse().ok()?;
    let is_share = share > 0.0 && share <= 1.0;
    let promise = CertifiedGoal::new(others(share), SURE);
    is_share.then(|| marked.automation_plan(CutoffGoal::Precision(share), promise))
}

/// The recommended cutoffs for a precision in percent; `None` if none are, or those in force.
pub(super) fn recommended(marked: &MarkedAnswers, precision: &str) -> Option<Cutoffs> {
    let plan = plan(marked, precision)?;
    match plan.recommended_row()?.cutoffs {
        RowCutoffs::YesNo(cutoffs) => Some(cutoffs),
        RowCutoffs::Confidence(_) => None,
    }
}

/// The measures of the draft's cutoffs, the form that finds others, and the outcome of the last
/// search. `quality` is the address of the question's Quality.
pub(super) fn measured(
    marked: Option<&MarkedAnswers>,
    cutoffs: Option<PercentCutoffs>,
    view: &LensView,
    quality: &str,
) -> Markup {
    let Some(marked) = marked else {
        return html! {
            p.soft.no-marks { "How good these cutoffs are shows here once random results of this question are marked." }
        };
    };
    let (Some(measures), Some(cutoffs)) = (marked.percent_measures(), cutoffs) else {
        return html! {};
    };
    let now = measures.at(cutoffs);
    html! {
        div.measured data-measures=(script_measures(&measures)) {
            table.measures {
                caption.unseen { "How good these cutoffs are, over " (count(marked.len())) " marked results" }
                thead { tr {
                    th scope="col" { "On all " (count(marked.len())) " marked, random or imported" }
                    td {}
                    th scope="col" { "95 % interval" }
                    th scope="col" { "Results" }
                } }
                tbody {
                    @for measure in Measure::ALL {
                        @let [value, interval, rows] = cells(measure.of(&now));
                        tr data-measure=(measure.name()) {
                            th scope="row" { (measure.label()) }
                            td.number { b { (value) } }
                            td.number { (interval) }
                            td.number { (rows) }
                        }
                    }
                }
            }
            (finding(marked, view.advised.as_deref()))
            p.hint {
                "By the cutoffs drawn above. " a href={ (quality) "#cutoffs" } { "Quality" }
                " counts Yes and No together, by the cutoffs in force, and has other goals, such as Yes alone."
            }
        }
    }
}

/// The form that finds the cutoffs for a wanted precision.
fn finding(marked: &MarkedAnswers, advised: Option<&str>) -> Markup {
    html! {
        div.finding {
            label for="precision" { "Yes and No must be right in" }
            input #precision name="precision" type="number" inputmode="decimal" min="1" max="100" step="any"
                value=(advised.unwrap_or("95")) aria-describedby="advice";
            span { "%" }
            button type="submit" name="act" value="advise" { "Find the cutoffs" }
            p #advice role="status" { @if let Some(advised) = advised { (outcome(marked, advised)) } }
        }
    }
}

/// What to do for a wanted precision in percent, in the words of the Quality page.
fn outcome(marked: &MarkedAnswers, advised: &str) -> Markup {
    let Some(plan) = plan(marked, advised) else {
        return html! { span.fault { "Type a number from 1 to 100." } };
    };
    html! {
        strong { (plan.headline()) } " " (plan.outlook())
        @if let Some(step) = plan.next_step() { " " (step) }
        @if let Some(row) = plan.recommended_row() {
            " Counted on all marks, also on those that chose the cutoffs, " (count(row.wrong.count)) " of "
            (count(row.wrong.of)) " are wrong."
        }
    }
}

/// The cells of the measures at every whole percent from 0 to 100, for a script.
fn script_measures(measures: &PercentMeasures) -> String {
    let at = |percent: u8, measure: Measure| {
        let (no_below, yes_from) = match measure {
            Measure::Precision | Measure::Recall => (1, percent.max(1)),
            Measure::NoPrecision => (percent.clamp(1, 99), 100),
        };
        let cutoffs = PercentCutoffs::new(no_below, yes_from);
        cutoffs.map(|cutoffs| cells(measure.of(&measures.at(cutoffs))))
    };
    let all = |measure| {
        (0..=100)
            .map(|percent| at(percent, measure))
            .collect::<Vec<_>>()
    };
    let [precision, recall, no_precision] = Measure::ALL.map(all);
    json!({ "precision": precision, "recall": recall, "no_precision": no_precision }).to_string()
}

/// A proportion in percent, its interval, and its counts.
fn cells(proportion: Proportion) -> [String; 3] {
    let Proportion { count, of } = proportion;
    [
        value(proportion).unwrap_or_else(|| "–".to_owned()),
        interval(proportion).unwrap_or_default(),
        format!("{count} of {of}"),
    ]
}

fn value(proportion: Proportion) -> Option<String> {
    Some(format!("{} %", share(proportion.count, proportion.of)?))
}

fn interval(proportion: Proportion) -> Option<String> {
    let interval = proportion.interval()?;
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    Some(format!(
        "{} to {} %",
        percent(interval.low),
        percent(interval.high)
    ))
}

/// The probability that is promised.
const SURE: f64 = 0.95;
