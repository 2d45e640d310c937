//! A removed item of the form, kept so that the removal can be taken back.

use serde::{Deserialize, Serialize};

use super::act::FormAction;
use super::draft::{DraftField, DraftOutcome, DraftQuestion, EditDraft};

/// An item that was removed, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RemovedItem {
    Field(usize, DraftField),
    Question(usize, DraftQuestion),
    /// An option or level of the question at the first place.
    Outcome(usize, usize, DraftOutcome),
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

#[cfg(test)]
mod tests {
    use refract_domain::prism::question::QuestionType;

    use super::*;
    use crate::pages::edit::act::act;

    #[test]
    fn a_removal_is_taken_back_and_what_was_typed_since_stays() {
        let mut draft = EditDraft::blank();
        act(&mut draft, "questions.add.choice");
        for (place, label) in ["a", "b"].into_iter().enumerate() {
            draft.questions[1].outcomes[place].label = label.to_owned();
        }
        draft
            .questions
            .push(DraftQuestion::new(QuestionType::YesNo));
        for (button, focus) in [
            (
                "questions.1.options.0.remove",
                "questions.1.options.0.label",
            ),
            ("questions.2.remove", "questions.2.text"),
            ("fields.0.remove", "fields.0.label"),
        ] {
            let mut changed = draft.clone();
            let removed = RemovedItem::of(&changed, button).unwrap();
            act(&mut changed, button);
            assert_ne!(changed, draft, "{button}");
            changed.context = "typed since".to_owned();
            assert_eq!(removed.put_back(&mut changed).focus, focus);
            let mut expected = draft.clone();
            expected.context = "typed since".to_owned();
            assert_eq!(changed, expected, "{button}");
        }
        assert_eq!(RemovedItem::of(&draft, "fields.7.remove"), None);
        assert_eq!(RemovedItem::of(&draft, "fields.0.up"), None);
    }
}
