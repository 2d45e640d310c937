//! Advised and certified cutoffs as text.

use std::path::Path;

use indicatif::HumanCount;
use refract_evaluation::cutoffs::advice::{CutoffAdvice, CutoffGoal, FEW_MARKS};
use refract_evaluation::cutoffs::certificate::{Certificate, Certification, CertifiedRegion};
use refract_evaluation::cutoffs::promise::CertifiedCutoffs;
use refract_evaluation::marked::answers::MarkedAnswers;
use refract_evaluation::measures::proportion::{Interval, Proportion};

use crate::terminal::{Palette, counted};

/// The cutoffs in force and their quality on all marks; `None` for a question without cutoffs.
pub(super) fn in_force(marked: &MarkedAnswers) -> Option<String> {
    let now = marked.measures_in_force()?;
    let cutoffs = marked.cutoffs_in_force();
    Some(format!(
        "now: no below {} and yes from {}: on all {} yes is right in {} and finds {} of what is marked \
         yes, and no is right in {}",
        cutoffs.no_ends_at().value(),
        cutoffs.yes_begins_at().value(),
        counted(now.coverage.of, "mark"),
        describe(now.precision),
        describe(now.recall),
        describe(now.no_precision),
    ))
}

/// The advice and its expected outcome, after the cutoffs that are in force.
pub(super) fn lines(
    goal: CutoffGoal,
    advice: &CutoffAdvice,
    marked: &MarkedAnswers,
) -> Vec<String> {
    let mut lines = Vec::from_iter(in_force(marked).filter(|_| !marked.is_empty()));
    let now = marked.cutoffs_in_force();
    lines.extend(advised(goal, advice, advice.is_in_force(now)));
    lines
}

/// The advice, and whether it is what the lens has now; the first line restates the goal.
fn advised(goal: CutoffGoal, advice: &CutoffAdvice, is_now: bool) -> Vec<String> {
    let palette = Palette::of_stdout();
    let marks = format!(
        "from {}, {} of them yes",
        counted(advice.marks, "mark"),
        HumanCount(advice.marked_yes)
    );
    let Some(yes_from) = advice.yes_from.map(|share| share.to_string()) else {
        return vec![out_of_reach(goal, advice), marks];
    };
    let held_out = &advice.held_out;
    let precision = describe(held_out.precision);
    let recall = describe(held_out.recall);
    let (first, other) = match goal {
        CutoffGoal::Precision(_) => (
            format!("yes from {yes_from} gives a precision of {precision} on held-out rows"),
            format!("yes finds {recall} of what is marked yes"),
        ),
        CutoffGoal::Recall(_) => (
            format!("yes from {yes_from} gives a recall of {recall} on held-out rows"),
            format!("yes is right in {precision}"),
        ),
        CutoffGoal::Costs {
            wrong_yes,
            wrong_no,
        } => (
            format!(
                "yes from {yes_from} gives the least costs, {:.3} a row on held-out rows, where a \
                 wrong yes costs {wrong_yes} and a wrong no {wrong_no}",
                held_out.cost.unwrap_or_default()
            ),
            format!("yes is right in {precision}, and finds {recall} of what is marked yes"),
        ),
    };
    let mut lines = vec![palette.chosen.apply_to(first).to_string(), other];
    lines.extend(below(advice, &yes_from));
    if is_now {
        lines.push("these are the cutoffs that the lens has now".to_owned());
    }
    if let Some((low, high)) = advice.yes_gap {
        lines.push(format!(
            "yes from any percent between {low} and {high} finds the same marks: {yes_from} is the middle"
        ));
    }
    lines.push(format!(
        "{marks}; the cutoffs are based on {}",
        HumanCount(advice.behind)
    ));
    if advice.is_of_few_marks() {
        lines.push(palette.bad.apply_to(warning(advice)).to_string());
    }
    lines
}

/// The lines about answers below the cutoff of yes.
fn below(advice: &CutoffAdvice, yes_from: &str) -> Vec<String> {
    let held_out = &advice.held_out;
    let right = match held_out.no_precision.of {
        0 => "never said".to_owned(),
        _ => format!("right in {}", describe(held_out.no_precision)),
    };
    match advice.no_below.map(|share| share.to_string()) {
        None => vec![format!(
            "no cutoff lets no be right so often: what is below {yes_from} stays no or unsure as the \
             lens has it"
        )],
        Some(no_below) if no_below == yes_from => {
            vec![format!("no below {no_below} is {right}; nothing is unsure")]
        }
        Some(no_below) => vec![
            format!("no below {no_below} is {right}"),
            format!(
                "unsure is what is between: {} get yes or no",
                describe(held_out.coverage)
            ),
        ],
    }
}

/// The sentence for a goal that no cutoff reaches.
pub(super) fn out_of_reach(goal: CutoffGoal, advice: &CutoffAdvice) -> String {
    match goal {
        _ if advice.marks > 0 && !advice.has_both_marks() => {
            let answer = if advice.marked_yes == 0 { "no" } else { "yes" };
            format!("there is no advice, which needs marks of yes and of no: all are {answer}")
        }
        CutoffGoal::Precision(precision) => {
            format!("no cutoff gives a precision of {precision} on held-out rows")
        }
        CutoffGoal::Recall(recall) => {
            format!("no cutoff gives a recall of {recall} on held-out rows")
        }
        CutoffGoal::Costs { .. } => "there are no marks to weigh costs by".to_owned(),
    }
}

/// The warning for advice that is based on few marks.
pub(super) fn warning(advice: &CutoffAdvice) -> String {
    let behind = advice.behind;
    let marks = if behind == 1 { "mark" } else { "marks" };
    format!(
        "These cutoffs are based on {behind} {marks}: with fewer than {FEW_MARKS} they may be chance. \
         Mark more before you rely on them."
    )
}

/// What to do with cutoffs that were found, and written into a file or not.
pub(super) fn next_step(prism: &str, written: Option<&Path>) -> String {
    let steps = |file: &str| {
        format!(
            "`refract lens preview {prism} {file}` shows what would change, and `refract lens set \
             {prism} {file}` makes it the lens."
        )
    };
    match written {
        Some(path) => {
            let path = path.display().to_string();
            format!("{path} is written. Next: {}", steps(&path))
        }
        None => format!(
            "Next: `--write lens.json` puts the cutoffs into a lens file, {}",
            steps("lens.json")
        ),
    }
}

/// A cutoff in percent as the number in a lens file.
fn cutoff(percent: u32) -> String {
    (f64::from(percent) / 100.0).to_string()
}

/// A share with its interval: `0.95 (0.91 to 0.98)`.
fn describe(proportion: Proportion) -> String {
    match (proportion.value(), proportion.interval()) {
        (Some(share), Some(Interval { low, high })) => {
            format!("{share:.2} ({low:.2} to {high:.2})")
        }
        (Some(_) | None, _) => "none".to_owned(),
    }
}

/// The certificate, after the cutoffs that are in force.
pub(super) fn certified_lines(certificate: &Certificate, marked: &MarkedAnswers) -> Vec<String> {
    let mut lines = Vec::from_iter(in_force(marked).filter(|_| !marked.is_empty()));
    lines.extend(certified(certificate));
    lines
}

/// The certificate; the first line has the cutoffs, or says why there are none.
fn certified(certificate: &Certificate) -> Vec<String> {
    let palette = Palette::of_stdout();
    let outcome = outcome(certificate);
    let marks = counted(certificate.marks, "mark");
    let Some(region) = certificate.certified() else {
        return vec![outcome, format!("from {marks}")];
    };
    vec![
        palette.chosen.apply_to(outcome).to_string(),
        format!(
            "certified from {marks}, with a probability of {} over their drawing",
            certificate.goal.sure()
        ),
        format!(
            "{} of {} automatic answers are wrong: at most {:.3} of all such answers",
            HumanCount(region.wrong.count),
            HumanCount(region.wrong.of),
            region.error_at_most
        ),
        format!(
            "{} of all answers are automatic",
            describe(certificate.coverage())
        ),
    ]
}

/// The outcome in one sentence.
pub(super) fn outcome(certificate: &Certificate) -> String {
    let error = certificate.goal.error();
    match certificate.certification {
        Certification::Certified(CertifiedRegion { cutoffs, .. }) => {
            let cutoffs = match cutoffs {
                CertifiedCutoffs::YesNo { no_below, yes_from } => {
                    format!(
                        "no below {} and yes from {}",
                        cutoff(no_below),
                        cutoff(yes_from)
                    )
                }
                CertifiedCutoffs::Confidence(percent) => {
                    format!("from a confidence of {}", cutoff(percent))
                }
            };
            format!("{cutoffs}, at most {error} of the answers are wrong")
        }
        Certification::MoreMarks(more) => format!(
            "not enough marks to certify an error of {error}: about {} more needed if \
             answers stay as good",
            HumanCount(more)
        ),
        Certification::OutOfReach => {
            format!("no cutoff does: answers are wrong too often for an error of {error}")
        }
    }
}
