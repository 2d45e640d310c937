//! Advice on the cutoffs of a Yes / No question: as JSON, as text, and as a lens file.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use refract_domain::result::mark::source::MarksFrom;
use refract_evaluation::cutoffs::advice::{CutoffAdvice, CutoffGoal};
use refract_service::measures::EvaluatedQuestion;
use refract_service::prisms::PrismHistory;

use super::advice_json::AdviceJson;
use super::{advice_text, advised_lens};
use crate::output;

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
            advised_lens::write(path, history, &question.key, |now| advice.cutoffs(now))?;
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
