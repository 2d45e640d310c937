//! Asks a wording of a prism, saved or not, about its examples. No result is saved; the answers are
//! kept beside the examples until other wordings were asked.

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::time::Duration;

use chrono::Utc;
use futures_util::stream::{self, StreamExt as _};
use refract_domain::answer::{Answer, Answers};
use refract_domain::ids::ExampleId;
use refract_domain::prism::PrismVersion;
use refract_domain::result::whole_milliseconds;
use refract_domain::submission::Submission;
use refract_domain::submission::model_input::{State, json_chars};
use refract_persistence::{ExampleCheck, Prism, WordingHash};
use sha2::{Digest as _, Sha256};
use tokio::time::sleep;

use super::checked::CheckedExample;
use super::{ExampleState, ExampleTexts};
use crate::InternalError;
use crate::prisms::trial::{DraftTrialCost, TrialError};

/// Most examples that are in flight to the model at the same time.
const AT_ONCE: usize = 8;

/// Which examples a wording is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedExamples {
    /// Every example that can be checked, those asked longest ago first.
    All,
    /// Those without an answer of the wording.
    Unanswered,
}

#[boxed(local)]
impl ExampleTexts<'_> {
    /// The examples of a prism with what a wording, saved or not, answered about them last.
    pub async fn checked(
        self,
        prism: &Prism,
        wording: &PrismVersion,
    ) -> Result<Vec<CheckedExample>, InternalError> {
        let database = &self.refract.database;
        let examples = database.list_examples(prism.id).await?;
        if examples.is_empty() {
            return Ok(Vec::new());
        }
        let hash = hash(wording);
        let checks = database.list_example_checks(prism.id, &hash);
        let checks = checks.await?.into_iter();
        let mut checks: HashMap<ExampleId, _> =
            checks.map(|check| (check.example, check)).collect();
        let checked = examples.into_iter().map(|example| CheckedExample {
            check: checks.remove(&example.id),
            example,
        });
        Ok(checked.collect())
    }

    /// An example of a prism with what a wording, saved or not, answered about it last.
    pub async fn find(
        self,
        prism: &Prism,
        wording: &PrismVersion,
        id: ExampleId,
    ) -> Result<Option<CheckedExample>, InternalError> {
        let mut examples = self.checked(prism, wording).await?.into_iter();
        Ok(examples.find(|one| one.example.id == id))
    }

    /// Asks a wording, saved or not, about examples of a prism, and keeps the answers beside them.
    /// After `patience` no further example is begun, and those in flight are given up: the others
    /// stay unanswered.
    ///
    /// # Errors
    /// When there is no model, or the database fails. Answers saved until then are kept.
    pub async fn ask(
        self,
        prism: &Prism,
        wording: &PrismVersion,
        which: AskedExamples,
        patience: Duration,
    ) -> Result<(), InternalError> {
        let mut examples = self.checked(prism, wording).await?;
        examples.retain(|one| which.has(one, wording));
        examples.sort_by_key(CheckedExample::checked_at);
        let hash = hash(wording);
        let asking = examples.iter().filter_map(|checked| {
            let id = checked.example.id;
            let submission = checked.example.submission.for_fields(wording.fields())?;
            let hash = &hash;
            Some(async move { self.ask_one(id, wording, hash, submission).await })
        });
        let asking = stream::iter(asking.collect::<Vec<_>>()).buffer_unordered(AT_ONCE);
        let asked: Vec<_> = asking.take_until(sleep(patience)).collect().await;
        asked.into_iter().collect()
    }

    /// The cost of [`ExampleTexts::ask`] about examples that were found.
    pub fn cost(
        self,
        examples: &[CheckedExample],
        wording: &PrismVersion,
        which: AskedExamples,
    ) -> DraftTrialCost {
        let mut cost = DraftTrialCost::default();
        let Ok(model) = self.refract.model() else {
            return cost;
        };
        let estimator = model.estimator(wording);
        for one in examples.iter().filter(|one| which.has(one, wording)) {
            if let Some(submission) = one.example.submission.for_fields(wording.fields()) {
                let state_chars = json_chars(&State {
                    prism_context: wording.context(),
                    submission: &submission,
                });
                cost.texts += 1;
                cost.requests += estimator.estimate(state_chars).requests;
            }
        }
        cost
    }

    async fn ask_one(
        self,
        example: ExampleId,
        wording: &PrismVersion,
        hash: &WordingHash,
        submission: Submission,
    ) -> Result<(), InternalError> {
        let answers = match self
            .refract
            .prisms()
            .answer_draft(wording, &submission)
            .await
        {
            Ok(answers) => Ok(in_short(&answers)),
            Err(TrialError::Internal(error)) => return Err(error),
            Err(error @ (TrialError::OverBudget(_) | TrialError::Model(_))) => {
                Err(error.to_string())
            }
        };
        let check = ExampleCheck {
            example,
            checked_at: whole_milliseconds(Utc::now()),
            answers,
        };
        let saving = self.refract.database.save_example_check(hash, check);
        Ok(saving.await?)
    }
}

impl AskedExamples {
    fn has(self, one: &CheckedExample, wording: &PrismVersion) -> bool {
        match one.state(wording, &[]) {
            ExampleState::NotChecked | ExampleState::Failed(_) => true,
            ExampleState::Broken | ExampleState::Holds => self == Self::All,
            ExampleState::LacksFields(_) | ExampleState::NothingExpected => false,
        }
    }
}

/// A hash of what the model is asked.
fn hash(wording: &PrismVersion) -> WordingHash {
    // every version can be written as JSON
    let json = serde_json::to_vec(wording).unwrap_or_default();
    Sha256::digest(json).to_vec()
}

/// The answers with the probability of their outcome alone: a question may have 253 options, and a
/// prism 100 examples.
fn in_short(answers: &Answers) -> Answers {
    let short = answers.as_slice().iter().map(|(key, answer)| {
        let mut answer = answer.clone();
        match &mut answer {
            Answer::Choice {
                value,
                probabilities,
                ..
            } => probabilities.retain(|(outcome, _)| Some(outcome) == value.as_ref()),
            Answer::Scale {
                level,
                probabilities,
            } => probabilities.retain(|(outcome, _)| outcome == level),
            Answer::YesNo { .. } => {}
        }
        (key.clone(), answer)
    });
    Answers::new(short.collect())
}
