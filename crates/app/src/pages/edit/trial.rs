//! The draft tried on texts: a person's own test texts, and stored ones.
//!
//! What is kept of a trial are words of the prism with probabilities, and no stored text: a text
//! that is erased later is gone from the trial too.

use std::fmt::Write as _;
use std::sync::Arc;

use refract_domain::answer::Answers;
use refract_domain::answer::probability::Probability;
use refract_domain::ids::ResultId;
use refract_domain::lens::Column;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission, field_value_errors};
use refract_service::InternalError;
use refract_service::lenses::PrismLens;
use refract_service::prisms::{TrialPair, TrialTexts};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::draft::EditDraft;
use crate::components::answer_bars::describe_answer;
use crate::components::form_errors::describe;
use crate::requests::visit::Visit;

/// Most test texts of one's own.
pub(crate) const MOST_TEXTS: usize = 3;

/// A draft's answers to some texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TriedTexts {
    /// A hash of the draft that answered.
    words: String,
    /// The name of the choice of stored texts; empty for one's own texts.
    pub(crate) choice: String,
    /// The texts; of stored ones first those that are answered differently.
    pub(crate) texts: Vec<TriedText>,
}

/// A text with the draft's answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TriedText {
    /// The stored result; `None` for a text of one's own.
    pub(crate) result: Option<ResultId>,
    /// The version that answered the stored result.
    pub(crate) version: Option<i32>,
    /// The values of a text of one's own, by field.
    pub(crate) own: Vec<String>,
    pub(crate) answers: Vec<TriedAnswer>,
    /// Why the draft has no answers; empty if it has.
    pub(crate) error: String,
}

/// The answers to one question of the draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TriedAnswer {
    /// The question.
    pub(crate) text: String,
    /// The stored answer; `None` if the question was not asked.
    pub(crate) before: Option<TriedOutcome>,
    /// The draft's answer.
    pub(crate) now: Option<TriedOutcome>,
    /// Whether the lens reads the two differently.
    pub(crate) is_changed: bool,
}

/// An answer as the lens reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TriedOutcome {
    pub(crate) label: String,
    millionths: Option<u32>,
}

impl TriedText {
    /// Whether any question is answered differently.
    pub(crate) fn is_changed(&self) -> bool {
        self.answers.iter().any(|answer| answer.is_changed)
    }
}

impl TriedOutcome {
    fn new((label, probability): (&str, Option<Probability>)) -> Self {
        Self {
            label: label.to_owned(),
            millionths: probability.map(Probability::millionths),
        }
    }

    /// The probability of the label; for an Unsure, of yes.
    pub(crate) fn probability(&self) -> Option<Probability> {
        self.millionths.and_then(Probability::from_millionths)
    }
}

impl TriedTexts {
    /// Whether a draft is still the one that answered.
    pub(crate) fn is_of(&self, draft: &EditDraft) -> bool {
        self.words == hash(draft)
    }

    /// Number of texts that are answered differently.
    pub(crate) fn changed(&self) -> usize {
        self.texts.iter().filter(|text| text.is_changed()).count()
    }

    /// Asks a draft about a person's own texts, and saves nothing. Empty texts are left out.
    pub(crate) async fn of_own_texts(
        visit: &Visit,
        draft: &EditDraft,
        version: &PrismVersion,
        lens: &[Column],
        texts: &[Vec<String>],
    ) -> Self {
        let mut tried = Vec::new();
        let mut asked = Vec::new();
        for own in texts.iter().filter(|text| !is_blank(text)) {
            let error = match submission(version, own) {
                Ok(submission) => {
                    asked.push(submission);
                    String::new()
                }
                Err(error) => error,
            };
            tried.push(TriedText {
                own: own.clone(),
                error,
                ..TriedText::default()
            });
        }
        let mut answered = visit
            .refract
            .prisms()
            .try_texts(version, &asked)
            .await
            .into_iter();
        for text in tried.iter_mut().filter(|text| text.error.is_empty()) {
            match answered.next() {
                Some(Ok(answers)) => text.answers = own_answers(version, &answers, lens),
                Some(Err(error)) => text.error = error.to_string(),
                None => {}
            }
        }
        Self {
            words: hash(draft),
            choice: String::new(),
            texts: tried,
        }
    }

    /// Asks a draft about chosen stored texts, and saves nothing.
    pub(crate) async fn of_stored_texts(
        visit: &Visit,
        draft: &EditDraft,
        version: &PrismVersion,
        lens: &Arc<PrismLens>,
        choice: TrialTexts,
    ) -> Result<Self, InternalError> {
        let prisms = visit.refract.prisms();
        let stored = prisms.choose_trial_texts(lens, choice).await?;
        let pairs = prisms.try_draft(version, &stored).await;
        let texts = pairs.iter().map(|pair| stored_answers(version, pair));
        let mut texts: Vec<_> = texts.collect();
        texts.sort_by_key(|text| !text.is_changed());
        Ok(Self {
            words: hash(draft),
            choice: choice.name().to_owned(),
            texts,
        })
    }
}

/// Whether a text has nothing in any of its fields.
pub(crate) fn is_blank(text: &[String]) -> bool {
    text.iter().all(|value| value.trim().is_empty())
}

fn submission(version: &PrismVersion, text: &[String]) -> Result<Submission, String> {
    let mut values = Vec::new();
    for (place, field) in version.fields().iter().enumerate() {
        let value = text.get(place).cloned().unwrap_or_default();
        let errors = field_value_errors(&value);
        if !errors.is_empty() {
            return Err(format!("{}: {}", field.label, describe(&value, &errors)));
        }
        values.push((field.key.to_string(), value));
    }
    Submission::new(SentFields::new(values), None, version.fields())
        .map_err(|error| error.to_string())
}

fn own_answers(version: &PrismVersion, answers: &Answers, lens: &[Column]) -> Vec<TriedAnswer> {
    let answered = version.questions().iter().map(|question| TriedAnswer {
        text: question.text.clone(),
        before: None,
        now: answers
            .get(&question.key)
            .map(|answer| TriedOutcome::new(describe_answer(question, answer, lens))),
        is_changed: false,
    });
    answered.collect()
}

fn stored_answers(version: &PrismVersion, pair: &TrialPair) -> TriedText {
    let old = pair.stored.view();
    let lens = pair.stored.columns().lens;
    let answered = version.questions().iter().map(|question| {
        let before = old.questions.iter().find(|it| it.key == question.key);
        let before = before.and_then(|asked| {
            let answer = old.status.answers()?.get(&asked.key)?;
            Some(TriedOutcome::new(describe_answer(asked, answer, lens)))
        });
        let now = pair.answers.as_ref().ok();
        let now = now.and_then(|answers| answers.get(&question.key));
        TriedAnswer {
            text: question.text.clone(),
            before,
            now: now.map(|answer| TriedOutcome::new(describe_answer(question, answer, lens))),
            is_changed: pair.changes(question),
        }
    });
    TriedText {
        result: Some(pair.stored.id()),
        version: Some(old.version.get()),
        own: Vec::new(),
        answers: answered.collect(),
        error: pair
            .answers
            .as_ref()
            .err()
            .map(ToString::to_string)
            .unwrap_or_default(),
    }
}

fn hash(draft: &EditDraft) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(draft.file()).iter().take(16) {
        // writing to a `String` cannot fail
        let _ = write!(text, "{byte:02x}");
    }
    text
}
