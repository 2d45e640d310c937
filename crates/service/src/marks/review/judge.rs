//! Judges a question of a result in a sitting, and undoes judgements.

use std::sync::Arc;

use chrono::Utc;
use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::cutoffs_of;
use refract_domain::result::mark::abstention::Abstention;
use refract_domain::result::mark::{MarkNote, Marker};
use refract_domain::result::whole_milliseconds;
use refract_evaluation::prediction::predicted;

use super::sitting::{ReviewStep, Sitting};
use crate::InternalError;
use crate::lenses::PrismLens;
use crate::marks::{MarkOrigin, Marks, MarksError};
use crate::results::ReadableResult;

/// What a person says about a question of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The key of the correct outcome, not yet checked.
    Outcome(String),
    /// The text does not decide the question.
    CannotTell,
}

/// A judgement as it is saved.
pub struct JudgementInput {
    /// The judged result.
    pub result: ResultId,
    /// The judged question.
    pub question: QuestionKey,
    /// What the person says.
    pub judgement: Judgement,
    /// The name of the person.
    pub marked_by: Option<Marker>,
    /// What the person notes.
    pub note: Option<MarkNote>,
}

impl Marks<'_> {
    /// Judges a question of a result in a person's sitting.
    ///
    /// # Errors
    /// When the result is not in the sitting or was deleted meanwhile, its version has no such
    /// question or outcome, or the database fails. Nothing was saved then.
    pub async fn judge(
        self,
        lens: &Arc<PrismLens>,
        sitting: &mut Sitting,
        input: JudgementInput,
    ) -> Result<(), MarksError> {
        let database = &self.refract.database;
        if !sitting.state.results.contains(&input.result) {
            return Err(MarksError::ResultGone);
        }
        let found = database.find_result(lens.prism.account, input.result);
        let found = found.await?.ok_or(MarksError::ResultGone)?;
        let result = ReadableResult::through_lens(database, found.result, lens).await?;
        let is_of_version = result.version().question(&input.question).is_some();
        let outcome = match input.judgement {
            Judgement::Outcome(outcome) => {
                let origin = MarkOrigin {
                    marked_by: input.marked_by,
                    source: Some(sitting.source()),
                    note: input.note,
                };
                let changes = vec![(input.question.clone(), Some(outcome.clone()))];
                self.mark(&result, changes, &origin).await?;
                OutcomeKey::parse(&outcome).ok()
            }
            Judgement::CannotTell if is_of_version && result.is_ok() => {
                let abstention = Abstention {
                    result: input.result,
                    question: input.question.clone(),
                    abstained_by: input.marked_by,
                    abstained_at: whole_milliseconds(Utc::now()),
                    note: input.note,
                };
                let saving = database.save_abstention(sitting.prism, abstention);
                saving.await?;
                None
            }
            Judgement::CannotTell => return Err(MarksError::ResultGone),
        };
        let is_right = outcome.as_ref().and_then(|outcome| {
            let predicted = prediction(&result, &input.question)?;
            Some(predicted == *outcome)
        });
        let step = ReviewStep {
            result: input.result,
            question: input.question,
            outcome,
            is_right,
        };
        sitting.add(step);
        self.save_state(sitting).await
    }

    /// Undoes the last judgement of a sitting, unless another person changed it meanwhile, and
    /// returns it; `None` when nothing is left to undo.
    pub async fn undo_judgement(
        self,
        sitting: &mut Sitting,
    ) -> Result<Option<ReviewStep>, MarksError> {
        let database = &self.refract.database;
        let Some(step) = sitting.state.steps.pop() else {
            return Ok(None);
        };
        if step.outcome.is_none() {
            let withdrawing = database.withdraw_abstention(step.result, &step.question);
            withdrawing.await?;
        } else if self.is_marked_so(&step).await? {
            let questions = std::slice::from_ref(&step.question);
            let withdrawing = database.change_marks(sitting.prism, step.result, &[], questions);
            withdrawing.await?;
        }
        sitting.state.measure(&step, false);
        self.save_state(sitting).await?;
        Ok(Some(step))
    }

    /// Whether a question still has the mark of a step.
    async fn is_marked_so(self, step: &ReviewStep) -> Result<bool, MarksError> {
        let marks = self.refract.database.list_marks(step.result).await?;
        let mut marks = marks.iter();
        Ok(marks
            .any(|it| it.question == step.question && Some(&it.outcome) == step.outcome.as_ref()))
    }

    async fn save_state(self, sitting: &Sitting) -> Result<(), MarksError> {
        let state = sitting.state.json().map_err(InternalError::from)?;
        let now = whole_milliseconds(Utc::now());
        let database = &self.refract.database;
        let saving = database.save_sitting_state(sitting.id, state, now);
        Ok(saving.await?)
    }
}

impl Sitting {
    /// Adds a judgement. A form that is sent twice judges once, and a changed judgement replaces the
    /// one before.
    fn add(&mut self, step: ReviewStep) {
        let is_same = |it: &ReviewStep| it.result == step.result && it.question == step.question;
        if let Some(place) = self.state.steps.iter().position(is_same) {
            let before = self.state.steps.remove(place);
            self.state.measure(&before, false);
        }
        self.state.measure(&step, true);
        self.state.steps.push(step);
    }
}

/// The outcome that the answer to a question predicts, by the cutoffs of the lens.
fn prediction(result: &ReadableResult, question: &QuestionKey) -> Option<OutcomeKey> {
    let view = result.view();
    let answer = view.status.answers()?.get(question)?;
    let cutoffs = cutoffs_of(result.columns().lens, question);
    predicted(result.version().question(question)?, answer, cutoffs)
}
