//! Advised and certified cutoffs of a question: as JSON, as text, and as a lens file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use refract_authoring::lens_file::{self, LensFile};
use refract_domain::key::QuestionKey;
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::lens::{cutoffs_of, with_cutoffs};
use refract_domain::result::mark::source::MarksFrom;
use refract_evaluation::cutoffs::advice::{CutoffAdvice, CutoffGoal};
use refract_evaluation::cutoffs::certificate::Certificate;
use refract_evaluation::cutoffs::promise::{CertifiedCutoffs, CertifiedGoal};
use refract_service::measures::EvaluatedQuestion;
use refract_service::prisms::PrismHistory;

use super::advice_json::AdviceJson;
use super::advice_text;
use crate::output;
use crate::output::file::OutputFile;

/// A request for advice on one question's cutoffs.
pub(super) struct AdvisedQuestion {
    /// The goal of the cutoffs.
    pub(super) goal: CutoffGoal,
    /// The lens file to write.
    pub(super) write: Option<PathBuf>,
}

impl AdvisedQuestion {
    /// Prints the advice, and writes the lens file if requested.
    ///
    /// # Errors
    /// The lens file cannot be written, or the goal is out of reach.
    pub(super) fn print(
        &self,
        prism: &str,
        evaluated: &EvaluatedQuestion,
        history: &PrismHistory,
        marks: MarksFrom,
        as_json: bool,
    ) -> anyhow::Result<()> {
        let question = &evaluated.question;
        let advice = evaluated.marked.advise_cutoffs(self.goal);
        let advice = advice.context("the question is no yes_no question")?;
        if let (Some(path), Some(_)) = (&self.write, advice.yes_from) {
            write(path, history, &question.key, |now| advice.cutoffs(now))?;
        }
        if as_json {
            let key = question.key.as_str();
            output::json(&AdviceJson::of(key, self.goal, &advice, marks))?;
            if advice.yes_from.is_some() && advice.is_of_few_marks() {
                output::say(&advice_text::warning(&advice));
            }
        } else {
            let words = advice_text::lines(self.goal, &advice).join("\n");
            output::text(&format!("{words}\n"))?;
        }
        self.print_next_step(prism, &advice)
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

    fn print_next_step(&self, prism: &str, advice: &CutoffAdvice) -> anyhow::Result<()> {
        match (&self.write, advice.yes_from) {
            (write, Some(_)) => output::say(&advice_text::next_step(prism, write.as_deref())),
            (Some(path), None) => bail!(
                "{}: {} is not written",
                advice_text::out_of_reach(self.goal, advice),
                path.display()
            ),
            (None, None) => {}
        }
        Ok(())
    }
}

/// A request for certified cutoffs of one question.
pub(super) struct CertifiedQuestion {
    /// The promise.
    pub(super) goal: CertifiedGoal,
    /// The lens file to write.
    pub(super) write: Option<PathBuf>,
}

impl CertifiedQuestion {
    /// Prints the certificate, and writes the lens file if requested.
    ///
    /// # Errors
    /// The lens file cannot be written, or no cutoffs are certified.
    pub(super) fn print(
        &self,
        prism: &str,
        evaluated: &EvaluatedQuestion,
        history: &PrismHistory,
        marks: MarksFrom,
        as_json: bool,
    ) -> anyhow::Result<()> {
        let key = &evaluated.question.key;
        let certificate = evaluated.marked.certify(self.goal);
        let certified = certificate.certified();
        let cutoffs = certified.and_then(|region| region.cutoffs.cutoffs());
        if let (Some(path), Some(cutoffs)) = (&self.write, cutoffs) {
            write(path, history, key, |_| Some(cutoffs))?;
        }
        if as_json {
            output::json(&AdviceJson::certified(key.as_str(), &certificate, marks))?;
        } else {
            let lines = advice_text::certified_lines(&certificate).join("\n");
            output::text(&format!("{lines}\n"))?;
        }
        self.print_next_step(prism, &certificate)
    }

    fn print_next_step(&self, prism: &str, certificate: &Certificate) -> anyhow::Result<()> {
        let cutoffs = certificate.certified().map(|region| region.cutoffs);
        match (&self.write, cutoffs) {
            (write, Some(CertifiedCutoffs::YesNo { .. })) => {
                output::say(&advice_text::next_step(prism, write.as_deref()));
            }
            (Some(path), Some(CertifiedCutoffs::Confidence(_)) | None) => bail!(
                "{}: {} is not written",
                advice_text::outcome(certificate),
                path.display()
            ),
            (None, Some(CertifiedCutoffs::Confidence(_)) | None) => {}
        }
        Ok(())
    }
}

/// Writes the prism's lens with other cutoffs of a question to a file for `lens set`; `choose` makes
/// them from those that the lens has now.
///
/// # Errors
/// The latest version lacks the question, the lens has no room for its column, or the file cannot
/// be written.
pub(super) fn write(
    path: &Path,
    history: &PrismHistory,
    question: &QuestionKey,
    choose: impl FnOnce(Cutoffs) -> Option<Cutoffs>,
) -> anyhow::Result<()> {
    let latest = history.versions.last().context("Prism version not found")?;
    if latest.question(question).is_none() {
        let version = history.prism.latest_version;
        return Err(anyhow!(
            "version {version}, the latest, has no question '{question}', so that no lens can show it"
        ));
    }
    let columns = latest.columns(&history.lens);
    let cutoffs = choose(cutoffs_of(columns, question));
    let cutoffs = cutoffs.context("the advice has no cutoffs")?;
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
