//! The draft tried on a person's own test texts.

use std::fmt::Write as _;

use refract_domain::answer::{Answers, Probability};
use refract_domain::lens::Column;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission, field_value_errors};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::draft::EditDraft;
use crate::components::{describe, describe_answer};
use crate::requests::Visit;

/// Most test texts of one's own.
pub(crate) const MOST_TEXTS: usize = 3;

/// A draft's answers to some texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TriedTexts {
    /// A hash of the draft that answered.
    words: String,
    /// The texts.
    pub(crate) texts: Vec<TriedText>,
}

/// A text with the draft's answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TriedText {
    /// The values of the text, by field.
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
    /// The draft's answer.
    pub(crate) now: Option<TriedOutcome>,
}

/// An answer as the lens reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TriedOutcome {
    pub(crate) label: String,
    millionths: Option<u32>,
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
            texts: tried,
        }
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
        now: answers
            .get(&question.key)
            .map(|answer| TriedOutcome::new(describe_answer(question, answer, lens))),
    });
    answered.collect()
}

fn hash(draft: &EditDraft) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(draft.file()).iter().take(16) {
        // writing to a `String` cannot fail
        let _ = write!(text, "{byte:02x}");
    }
    text
}
