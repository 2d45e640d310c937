//! A draft as it is stored, and a folded question in a hidden input of the page: little more than
//! what changed. An unchanged question is kept as its key alone, so that the draft and the page of
//! a large prism hold only the changed ones. And what is stored of a form beside its values, such
//! as what the last button removed.

use std::sync::Arc;

use refract_domain::ids::PrismId;
use refract_domain::prism::PrismVersion;
use serde::{Deserialize, Serialize};

use super::draft::{DraftField, DraftQuestion, EditDraft, EditedOutcome};
use super::trial::TriedTexts;
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

/// What is stored of a form.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredEdit {
    /// The id of the prism; a new prism will get it.
    pub(crate) id: PrismId,
    /// The version that the draft was made from; `None` for a new prism.
    pub(crate) based_on: Option<i32>,
    /// The prism's name when the draft was begun.
    pub(crate) named: String,
    /// The page that stored the draft last: it may store it again without having seen the reply.
    pub(crate) tab: String,
    pub(crate) draft: CarriedDraft,
    #[serde(default)]
    pub(crate) extras: EditExtras,
}

/// What belongs to a draft besides the prism's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EditExtras {
    /// The effect of the last button.
    pub(crate) acted: FormAction,
    /// The inputs whose keys were proposed by the last button, and are to be looked at.
    pub(crate) proposed: Vec<String>,
    /// What the last button removed.
    pub(crate) removed: Option<RemovedItem>,
    /// Why the version is saved.
    pub(crate) note: String,
    /// The person's own test texts: a value for each field, in the order of the fields.
    pub(crate) texts: Vec<Vec<String>>,
    /// The draft's answers to the person's own test texts.
    pub(crate) own: Option<TriedTexts>,
    /// The stored texts that were chosen for a trial before the words were changed, as a query.
    pub(crate) choice: String,
    /// The prism that this one is a copy of: its lens is copied when the copy is created.
    pub(crate) copied: Option<PrismId>,
}

/// An item that was removed, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RemovedItem {
    Field(usize, DraftField),
    Question(usize, DraftQuestion),
    /// An option or level of the question at the first place.
    Outcome(usize, usize, EditedOutcome),
}

impl RemovedItem {
    /// The item that a button is about to remove; `None` for any other button.
    pub(crate) fn of(draft: &EditDraft, button: &str) -> Option<Self> {
        let path = button.strip_suffix(".remove")?;
        let parts: Vec<&str> = path.split('.').collect();
        match parts.as_slice() {
            ["fields", place] => {
                let place = place.parse().ok()?;
                Some(Self::Field(place, draft.fields.get(place)?.clone()))
            }
            ["questions", place] => {
                let place = place.parse().ok()?;
                Some(Self::Question(place, draft.questions.get(place)?.clone()))
            }
            ["questions", question, _, place] => {
                let (question, place): (usize, usize) =
                    (question.parse().ok()?, place.parse().ok()?);
                let outcomes = &draft.questions.get(question)?.outcomes;
                Some(Self::Outcome(question, place, outcomes.get(place)?.clone()))
            }
            _ => None,
        }
    }

    /// Puts the item back into its place. Everything typed since then stays.
    pub(crate) fn put_back(self, draft: &mut EditDraft) -> FormAction {
        let focus = match self {
            Self::Field(place, field) => {
                let place = place.min(draft.fields.len());
                draft.fields.insert(place, field);
                format!("fields.{place}.label")
            }
            Self::Question(place, question) => {
                let place = place.min(draft.questions.len());
                let is_folded = question.is_folded;
                draft.questions.insert(place, question);
                let input = if is_folded { "open" } else { "text" };
                format!("questions.{place}.{input}")
            }
            Self::Outcome(question_place, place, outcome) => {
                let Some(question) = draft.questions.get_mut(question_place) else {
                    return FormAction::default();
                };
                let place = place.min(question.outcomes.len());
                question.outcomes.insert(place, outcome);
                let list = question.list().unwrap_or_default();
                draft.fold_besides(Some(question_place));
                format!("questions.{question_place}.{list}.{place}.label")
            }
        };
        FormAction {
            focus,
            message: "The removal is taken back.".to_owned(),
        }
    }
}

/// The effect of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FormAction {
    /// The id of the element that gets the focus; empty when the action is unknown or names a
    /// missing item.
    pub(crate) focus: String,
    /// The effect in one sentence, for screen readers.
    pub(crate) message: String,
}
