//! A draft as it is stored, and a folded question in a hidden input of the page: little more than what
//! changed. An unchanged question is kept as its key alone, so that the draft and the page of a large
//! prism hold only the changed ones.

use std::sync::Arc;

use refract_domain::prism::PrismVersion;
use serde::{Deserialize, Serialize};

use super::draft::{DraftField, DraftQuestion, EditDraft};
use crate::replies::PageError;

/// The version that a draft was made from; `None` for a new prism.
#[derive(Clone, Default)]
pub(crate) struct DraftBase(pub(crate) Option<Arc<PrismVersion>>);

/// A question of a draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum CarriedQuestion {
    /// The base's question with this key, unchanged.
    Saved { key: String, is_folded: bool },
    /// A new or changed question.
    Typed(DraftQuestion),
}

/// A whole draft without what the version has that it was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CarriedDraft {
    name: String,
    #[serde(default)]
    slug: String,
    fields: Vec<DraftField>,
    context: String,
    questions: Vec<CarriedQuestion>,
}

impl DraftBase {
    /// The hidden value of a question.
    pub(crate) fn carry_question(&self, question: &DraftQuestion) -> String {
        in_json(&self.carried(question))
    }

    /// A draft without what the version has.
    pub(crate) fn carry(&self, draft: &EditDraft) -> CarriedDraft {
        let questions = draft.questions.iter();
        CarriedDraft {
            name: draft.name.clone(),
            slug: draft.slug.clone(),
            fields: draft.fields.clone(),
            context: draft.context.clone(),
            questions: questions.map(|question| self.carried(question)).collect(),
        }
    }

    /// Parses the hidden value of a question.
    ///
    /// # Errors
    /// [`PageError::NoForm`] when the app did not write the value itself.
    pub(crate) fn read_question(&self, json: &str) -> Result<DraftQuestion, PageError> {
        self.question(parsed(json)?)
    }

    /// The version's question with this key, folded.
    ///
    /// # Errors
    /// [`PageError::NoForm`] when the version has no such question.
    pub(crate) fn same_question(&self, key: &str) -> Result<DraftQuestion, PageError> {
        self.saved(key, true).ok_or(PageError::NoForm)
    }

    /// The draft that was carried.
    ///
    /// # Errors
    /// [`PageError::NoForm`] when it names a question that the version lacks.
    pub(crate) fn read(&self, carried: CarriedDraft) -> Result<EditDraft, PageError> {
        let questions = carried.questions.into_iter();
        Ok(EditDraft {
            name: carried.name,
            slug: carried.slug,
            fields: carried.fields,
            context: carried.context,
            questions: questions
                .map(|question| self.question(question))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Whether a question is unchanged.
    pub(crate) fn has(&self, question: &DraftQuestion) -> bool {
        let saved = self.saved(question.key.as_str(), question.is_folded);
        saved.is_some_and(|saved| saved == *question)
    }

    fn carried(&self, question: &DraftQuestion) -> CarriedQuestion {
        if self.has(question) {
            CarriedQuestion::Saved {
                key: question.key.as_str().to_owned(),
                is_folded: question.is_folded,
            }
        } else {
            CarriedQuestion::Typed(question.clone())
        }
    }

    fn question(&self, carried: CarriedQuestion) -> Result<DraftQuestion, PageError> {
        match carried {
            CarriedQuestion::Saved { key, is_folded } => {
                self.saved(&key, is_folded).ok_or(PageError::NoForm)
            }
            CarriedQuestion::Typed(question) => Ok(question),
        }
    }

    fn saved(&self, key: &str, is_folded: bool) -> Option<DraftQuestion> {
        let mut questions = self.0.as_ref()?.questions().iter();
        let saved = questions.find(|saved| saved.key.as_str() == key)?;
        Some(DraftQuestion {
            is_folded,
            ..DraftQuestion::of(saved)
        })
    }
}

fn in_json(value: &impl Serialize) -> String {
    // every part of a draft can be written as JSON
    serde_json::to_string(value).unwrap_or_default()
}

fn parsed<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, PageError> {
    serde_json::from_str(json).map_err(|_| PageError::NoForm)
}
