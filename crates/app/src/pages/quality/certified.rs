//! Certified cutoffs: those with which at most a promised share of the automatic answers is wrong.

use maud::{Markup, html};
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::prism::question::QuestionType;
use refract_domain::result::mark::source::MarksFrom;
use refract_evaluation::cutoffs::certificate::{Certificate, Certification, CertifiedRegion};
use refract_evaluation::cutoffs::promise::{CertifiedCutoffs, CertifiedGoal};
use refract_evaluation::cutoffs::trial::CutoffMeasures;

use super::advice;
use super::quality_view::QualityView;
use crate::components::bar::proportion_range;
use crate::components::field::FormField;
use crate::components::number::{count, counted};
use crate::components::table::stacked_table;
use crate::requests::page_request::Query;

/// The shares of wrong answers that are always shown.
const WANTED: [f64; 3] = [0.01, 0.05, 0.1];
/// The probability that is promised unless another one is asked for, in percent.
const SURE: &str = "95";
/// The validation error of a promise's number.
const NO_PERCENTAGE: &str = "is no percentage above 0 and below 100";

/// The section with the certificates for the usual promises and the one that is asked for.
pub(super) fn section(view: &QualityView<'_>) -> Markup {
    let is_fair = match view.filters.filter.from {
        MarksFrom::Random => true,
        MarksFrom::All => false,
    };
    html! {
        section #certified {
            h2 { "Certified cutoffs" }
            @if is_fair { (certificates(view)) } @else {
                p.hint { "Marks of results that somebody chose certify nothing. Count random and imported ones alone." }
            }
        }
    }
}

fn certificates(view: &QualityView<'_>) -> Markup {
    let wrong = view.asked("wrong");
    let sure = view.asked("sure").unwrap_or(SURE);
    let own = wrong.map(|wrong| promise(wrong, sure));
    let is_refused = matches!(own, Some(None));
    let usual = WANTED.map(|error| CertifiedGoal::new(error, 0.95));
    let goals = own.into_iter().chain(usual).flatten();
    let marked = &view.quality.evaluated.marked;
    let has_own = wrong.is_some() && !is_refused;
    let rows = html! {
        @if let Some(measures) = marked.measures_in_force() { (in_force(view.quality.cutoffs, &measures)) }
        @for (place, goal) in goals.enumerate() {
            (row(view, &marked.certify(goal), has_own && place == 0))
        }
    };
    let headings: &[&str] = match view.question().question_type() {
        QuestionType::YesNo => &[
            "Wrong at most",
            "No below",
            "Yes from",
            "Wrong of the marked",
            "Answered alone",
            "",
        ],
        QuestionType::Choice | QuestionType::Scale => &[
            "Wrong at most",
            "From confidence",
            "Wrong of the marked",
            "Answered alone",
        ],
    };
    html! {
        p.hint {
            "With these, the share of wrong answers stays below the promise, unless the draw of marks was \
             among the few unlucky ones. Decide how many to mark before you look."
        }
        (stacked_table("Certified cutoffs", headings, &rows))
        (form(view, wrong.unwrap_or_default(), sure, is_refused))
    }
}

/// The row of the cutoffs that the lens has now, which promise nothing.
fn in_force(cutoffs: Cutoffs, measures: &CutoffMeasures) -> Markup {
    let answered = measures.coverage.count;
    let right = measures.precision.count + measures.no_precision.count;
    html! {
        tr {
            th scope="row" { "Now, without a promise" }
            td data-label="No below" { (percent(cutoffs.no_ends_at().value())) }
            td data-label="Yes from" { (percent(cutoffs.yes_begins_at().value())) }
            td data-label="Wrong of the marked" { (count(answered.saturating_sub(right))) " of " (count(answered)) }
            td data-label="Answered alone" { (proportion_range(measures.coverage)) }
            td {}
        }
    }
}

fn row(view: &QualityView<'_>, certificate: &Certificate, is_own: bool) -> Markup {
    let goal = certificate.goal;
    html! {
        tr.chosen[is_own] {
            th scope="row" {
                (percent(goal.error())) ", sure to " (percent(goal.sure()))
                @if is_own { span.unseen { ", your goal" } }
            }
            @match certificate.certification {
                Certification::Certified(region) => { (cells(view, certificate, &region)) }
                Certification::MoreMarks(more) => {
                    (refused(view, &format!("About {} needed if answers stay as good.", counted(more, "more mark"))))
                }
                Certification::OutOfReach => { (refused(view, "No cutoff does: answers are wrong too often.")) }
            }
        }
    }
}

fn cells(view: &QualityView<'_>, certificate: &Certificate, region: &CertifiedRegion) -> Markup {
    let wrong = region.wrong;
    let measured = html! {
        td data-label="Wrong of the marked" { (count(wrong.count)) " of " (count(wrong.of)) }
        td data-label="Answered alone" { (proportion_range(certificate.coverage())) }
    };
    match region.cutoffs {
        CertifiedCutoffs::YesNo { no_below, yes_from } => html! {
            td data-label="No below" { (no_below) " %" }
            td data-label="Yes from" { (yes_from) " %" }
            (measured)
            td {
                @if let Some(draft) = region.cutoffs.cutoffs().and_then(|cutoffs| view.draft(cutoffs)) {
                    a href=(draft) { "Try in the lens" }
                }
            }
        },
        CertifiedCutoffs::Confidence(from) => html! {
            td data-label="From confidence" { (format!("{:.2}", f64::from(from) / 100.0)) }
            (measured)
        },
    }
}

/// Why there are no cutoffs, over all columns.
fn refused(view: &QualityView<'_>, reason: &str) -> Markup {
    let columns = match view.question().question_type() {
        QuestionType::YesNo => "5",
        QuestionType::Choice | QuestionType::Scale => "3",
    };
    html! { td colspan=(columns) { span.soft { (reason) } } }
}

fn form(view: &QualityView<'_>, wrong: &str, sure: &str, is_refused: bool) -> Markup {
    let error = if is_refused { NO_PERCENTAGE } else { "" };
    let wrong = FormField::new("wrong", "Wrong at most, %")
        .value(wrong)
        .error(error);
    let sure = FormField::new("sure", "Sure to, %").value(sure);
    html! {
        form.filters method="get" action={ (view.link(&Query::default())) "#certified" } aria-label="Another promise" {
            (view.query().inputs())
            (wrong.line("text", "off"))
            (sure.line("text", "off"))
            button type="submit" { "Certify cutoffs" }
        }
    }
}

/// Parses a promise in percent; `None` for numbers outside their range.
fn promise(wrong: &str, sure: &str) -> Option<CertifiedGoal> {
    let share = |text: &str| {
        let number: f64 = text.trim_end_matches('%').trim().parse().ok()?;
        Some(number / 100.0)
    };
    CertifiedGoal::new(share(wrong)?, share(sure)?)
}

/// A share in percent, with as many decimals as it has.
fn percent(share: f64) -> String {
    format!("{} %", advice::percent(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_two_percentages() {
        assert_eq!(promise("5", "95"), CertifiedGoal::new(0.05, 0.95));
        assert_eq!(promise("2.5 %", "99"), CertifiedGoal::new(0.025, 0.99));
        for (wrong, sure) in [
            ("0", "95"),
            ("5", "100"),
            ("x", "95"),
            ("5", ""),
            ("NaN", "95"),
        ] {
            assert_eq!(promise(wrong, sure), None, "{wrong} {sure}");
        }
        assert_eq!(percent(0.025), "2.5 %");
    }
}
