//! Advice on the cutoffs of a question: as text, as the JSON object of `evaluate --advise --json`, and
//! as a lens file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use refract_authoring::lens_file::{self, LensFile};
use refract_domain::key::QuestionKey;
use refract_domain::lens::{Cutoffs, with_cutoffs};
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::cutoffs::{
    Certificate, Certification, CertifiedCutoffs, CertifiedGoal, CutoffAdvice, CutoffGoal,
    CutoffMeasures,
};
use refract_evaluation::measures::Proportion;
use refract_evaluation::report::{AutomationPlan, RowBasis, RowCutoffs};
use refract_service::measures::EvaluatedQuestion;
use refract_service::prisms::PrismHistory;
use serde_json::value::RawValue;

use super::plan_text;
use crate::commands::output_files::is_stdout;
use crate::output::file::OutputFile;
use crate::output::{self, NamedMembers, plain_number, value};

/// A request for advice on one question's cutoffs.
pub(super) struct AdvisedQuestion {
    /// The goal of the rule of thumb.
    pub(super) goal: CutoffGoal,
    /// The promise of the guarantee; `None` without one.
    pub(super) promise: Option<CertifiedGoal>,
    /// The row of which the JSON object and the lens file are.
    pub(super) asked: RowBasis,
    /// The lens file to write.
    pub(super) write: Option<PathBuf>,
}

impl AdvisedQuestion {
    /// Whether something is to be said without marks: how many are needed.
    pub(super) fn needs_no_marks(&self) -> bool {
        self.asked == RowBasis::Guarantee
    }

    /// Prints the advice, and writes the lens file if requested.
    ///
    /// # Errors
    /// The lens file cannot be written, or the row that was asked for has no cutoffs.
    pub(super) fn print(
        &self,
        prism: &str,
        evaluated: &EvaluatedQuestion,
        history: &PrismHistory,
        marks: MarksFrom,
        as_json: bool,
    ) -> anyhow::Result<()> {
        let key = &evaluated.question.key;
        let plan = evaluated.marked.automation_plan(self.goal, self.promise);
        let row = plan.rows.iter().find(|row| row.basis == self.asked);
        let cutoffs = row.and_then(|row| match row.cutoffs {
            RowCutoffs::YesNo(cutoffs) => Some(cutoffs),
            RowCutoffs::Confidence(_) => None,
        });
        if let (Some(path), Some(cutoffs)) = (&self.write, cutoffs) {
            write(path, history, key, cutoffs)?;
        }
        if is_stdout(self.write.as_deref()) {
            // the lens file is there
        } else if as_json {
            self.print_json(key.as_str(), &plan, marks)?;
        } else {
            let words = plan_text::lines(&plan).join("\n");
            output::text(&format!("{words}\n"))?;
        }
        match (&self.write, row, cutoffs) {
            (write, Some(row), Some(_)) => {
                let row = row.name().to_lowercase();
                output::say(&plan_text::next_step(prism, write.as_deref(), &row));
            }
            (Some(path), _, None) => bail!(
                "{}: {} is not written",
                plan_text::not_written(&plan, self.asked),
                path.display()
            ),
            (_, _, _) => {}
        }
        Ok(())
    }

    fn print_json(
        &self,
        question: &str,
        plan: &AutomationPlan,
        marks: MarksFrom,
    ) -> anyhow::Result<()> {
        if self.asked == RowBasis::Guarantee {
            let certificate = plan.certificate.as_ref().context("nothing is promised")?;
            return output::object(&certified(question, certificate, marks));
        }
        let advice = plan.advice.as_ref();
        let advice = advice.context("the question is no yes_no question")?;
        output::object(&advised(question, self.goal, advice, marks))?;
        if advice.yes_from.is_some() && advice.is_of_few_marks() {
            output::say(&plan_text::warning(advice));
        }
        Ok(())
    }

    /// The error for a requested lens file that cannot be written because there are no marks.
    pub(super) fn refuse_to_write(&self) -> anyhow::Result<()> {
        match &self.write {
            Some(path) => bail!(
                "without marks there is no advice: {} is not written",
                path.display()
            ),
            None => Ok(()),
        }
    }
}

/// Writes the prism's lens with other cutoffs of a question to a file for `lens set`.
///
/// # Errors
/// The latest version lacks the question, the lens has no room for its column, or the file cannot
/// be written.
pub(super) fn write(
    path: &Path,
    history: &PrismHistory,
    question: &QuestionKey,
    cutoffs: Cutoffs,
) -> anyhow::Result<()> {
    let latest = history.versions.last().context("Prism version not found")?;
    if latest.question(question).is_none() {
        let version = history.prism.latest_version;
        return Err(anyhow!(
            "version {version}, the latest, has no question '{question}', so that no lens can show it"
        ));
    }
    let columns = latest.columns(&history.lens);
    let columns = with_cutoffs(columns, latest.fields(), question, cutoffs);
    let mut text = serde_json::to_vec_pretty(&LensFile::new(&columns))?;
    text.push(b'\n');
    // checked the way `lens set` will read the file
    lens_file::read(&text, latest)?;
    let mut file = OutputFile::create(path)?;
    let written = file.write_all(&text);
    written.with_context(|| format!("cannot write {}", path.display()))?;
    file.finish()
}

/// The members of one advice; the cutoffs are null if the goal is out of reach.
fn advised(
    question: &str,
    goal: CutoffGoal,
    advice: &CutoffAdvice,
    marks: MarksFrom,
) -> Vec<(&'static str, Box<RawValue>)> {
    vec![
        ("question", value(&question)),
        ("no_below", value(&advice.no_below.map(plain_number))),
        ("yes_from", value(&advice.yes_from.map(plain_number))),
        ("target", value(&NamedMembers(&target(goal)))),
        ("marks", value(&advice.marks)),
        (
            "held_out",
            value(&NamedMembers(&held_out(&advice.held_out))),
        ),
        ("marks_from", value(&marks.name())),
    ]
}

/// The members of a certificate. What is only known of certified cutoffs is null without them.
fn certified(
    question: &str,
    certificate: &Certificate,
    marks: MarksFrom,
) -> Vec<(&'static str, Box<RawValue>)> {
    let region = certificate.certified();
    let (mut no_below, mut yes_from, mut confidence) = (None, None, None);
    match region.map(|region| region.cutoffs) {
        Some(CertifiedCutoffs::YesNo {
            no_below: no,
            yes_from: yes,
        }) => (no_below, yes_from) = (Some(share(no)), Some(share(yes))),
        Some(CertifiedCutoffs::Confidence(percent)) => confidence = Some(share(percent)),
        None => {}
    }
    let more_marks = match certificate.certification {
        Certification::Certified(_) => Some(0),
        Certification::MoreMarks(more) => Some(more),
        Certification::OutOfReach => None,
    };
    let goal = [
        ("error", plain_number(certificate.goal.error())),
        ("sure", plain_number(certificate.goal.sure())),
    ];
    let [error, sure] = goal.clone().map(|(name, number)| (name, value(&number)));
    let promised = [
        error,
        sure,
        ("marks", value(&certificate.marks)),
        ("more_marks_needed", value(&more_marks)),
        ("confidence", value(&confidence)),
        ("answered", value(&region.map(|region| region.wrong.of))),
        ("wrong", value(&region.map(|region| region.wrong.count))),
        (
            "error_at_most",
            value(&region.map(|region| region.error_at_most)),
        ),
    ];
    vec![
        ("question", value(&question)),
        ("no_below", value(&no_below)),
        ("yes_from", value(&yes_from)),
        ("target", value(&NamedMembers(&goal))),
        ("marks", value(&certificate.marks)),
        (
            "held_out",
            value(&NamedMembers(&held_out(&certificate.held_out))),
        ),
        ("marks_from", value(&marks.name())),
        ("certified", value(&NamedMembers(&promised))),
    ]
}

/// A whole percent as a share.
fn share(percent: u32) -> Box<RawValue> {
    plain_number(f64::from(percent) / 100.0)
}

/// The goal with its numbers as given.
fn target(goal: CutoffGoal) -> Vec<(&'static str, Box<RawValue>)> {
    match goal {
        CutoffGoal::Precision(precision) => vec![("precision", plain_number(precision))],
        CutoffGoal::YesPrecision(precision) => vec![("yes_precision", plain_number(precision))],
        CutoffGoal::Recall(recall) => vec![("recall", plain_number(recall))],
        CutoffGoal::Costs {
            wrong_yes,
            wrong_no,
        } => vec![
            ("cost_of_wrong_yes", plain_number(wrong_yes)),
            ("cost_of_wrong_no", plain_number(wrong_no)),
        ],
    }
}

/// The measures of the cutoffs on held-out rows.
fn held_out(measures: &CutoffMeasures) -> Vec<(&'static str, Option<f64>)> {
    let low = |proportion: Proportion| Some(proportion.interval()?.low);
    let high = |proportion: Proportion| Some(proportion.interval()?.high);
    vec![
        ("precision", measures.precision.value()),
        ("recall", measures.recall.value()),
        ("coverage", measures.coverage.value()),
        ("precision_low", low(measures.precision)),
        ("precision_high", high(measures.precision)),
        ("recall_low", low(measures.recall)),
        ("recall_high", high(measures.recall)),
        ("no_precision", measures.no_precision.value()),
        ("no_precision_low", low(measures.no_precision)),
        ("no_precision_high", high(measures.no_precision)),
        ("cost", measures.cost),
    ]
}
