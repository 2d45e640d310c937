//! A removed item of the form, kept so that the removal can be taken back.

use serde::{Deserialize, Serialize};

use super::draft::{DraftField, DraftQuestion, EditDraft, EditedOutcome};
use super::form_action::FormAction;

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
