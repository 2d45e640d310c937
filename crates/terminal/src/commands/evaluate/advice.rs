//! Advice on the cutoffs of a question: as JSON, as text, and as a lens file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use refract_authoring::lens_file::{self, LensFile};
use refract_domain::key::QuestionKey;
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::lens::with_cutoffs;
use refract_domain::result::mark::source::MarksFrom;
use refract_evaluation::cutoffs::advice::CutoffGoal;
use refract_evaluation::cutoffs::promise::CertifiedGoal;
use refract_evaluation::report::automation_plan::{AutomationPlan, RowBasis, RowCutoffs};
use refract_service::measures::EvaluatedQuestion;
use refract_service::prisms::PrismHistory;

use super::advice_json::AdviceJson;
use super::plan_text;
use crate::output;
use crate::output::file::OutputFile;

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
        if as_json {
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
            return output::json(&AdviceJson::certified(question, certificate, marks));
        }
        let advice = plan.advice.as_ref();
        let advice = advice.context("the question is no yes_no question")?;
        output::json(&AdviceJson::of(question, self.goal, advice, marks))?;
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
