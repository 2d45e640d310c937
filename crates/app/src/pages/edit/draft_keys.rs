//! The keys that a draft's items will have once they are saved, shown while somebody types.

use refract_authoring::made_names;
use refract_domain::key::OutcomeKey;
use refract_domain::prism::question::{Outcome, Question, QuestionType};

use super::carried_draft::DraftBase;
use super::draft::{DraftKey, DraftQuestion, EditDraft};

/// The keys of new items by their path in the form, such as `questions.0.key`; empty where there
/// are no words yet that a key could be made from. None for a draft beyond the limits, which says so
/// instead.
pub(crate) fn made_keys(draft: &EditDraft, base: &DraftBase) -> Vec<(String, String)> {
    let mut keys = Vec::new();
    if draft.is_beyond_limits() {
        return keys;
    }
    let (fields, questions) = draft.keys();
    for (place, (field, key)) in draft.fields.iter().zip(fields).enumerate() {
        let key = shown(&field.key, &field.label, key);
        keys.extend(key.map(|key| (format!("fields.{place}.key"), key)));
    }
    for (place, (question, key)) in draft.questions.iter().zip(questions).enumerate() {
        let path = format!("questions.{place}");
        let key = shown(&question.key, &question.text, key);
        keys.extend(key.map(|key| (format!("{path}.key"), key)));
        if !question.is_folded
            && let Some(list) = question.list()
        {
            let of_outcomes = outcome_keys(question, base);
            for (place, (outcome, key)) in question.outcomes.iter().zip(of_outcomes).enumerate() {
                let key = shown(&outcome.key, &outcome.label, key.to_string());
                keys.extend(key.map(|key| (format!("{path}.{list}.{place}.key"), key)));
            }
        }
    }
    keys
}

/// The key of an item that has none of its own yet; `None` for any other item.
fn shown(key: &DraftKey, words: &str, made: String) -> Option<String> {
    match key {
        DraftKey::Saved(_) => None,
        DraftKey::Typed(_) if words.trim().is_empty() => Some(String::new()),
        DraftKey::Typed(_) => Some(made),
    }
}

fn outcome_keys(question: &DraftQuestion, base: &DraftBase) -> Vec<OutcomeKey> {
    let outcomes = question.outcomes.iter();
    let outcomes: Vec<_> = outcomes
        .map(|outcome| {
            let key = OutcomeKey::parse(outcome.key.as_str().trim()).ok();
            (key, outcome.label.trim())
        })
        .collect();
    let is_choice = question.question_type == QuestionType::Choice;
    let is_reserved = |key: &OutcomeKey| is_choice && key.is_built_in();
    made_names::outcome_keys(&outcomes, previous(question, base), is_reserved)
}

/// The options or levels of the question in the version that the draft was made from.
fn previous<'a>(question: &DraftQuestion, base: &'a DraftBase) -> &'a [Outcome] {
    let questions = base.0.iter().flat_map(|version| version.questions());
    let mut same = questions.filter(|saved| saved.key.as_str() == question.key.as_str());
    same.next().map(Question::own_outcomes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use refract_authoring::prism_file::PrismFile;

    use super::*;
    use crate::pages::edit::draft::{DraftField, EditedOutcome};

    #[test]
    fn the_keys_that_are_shown_are_those_that_are_saved() {
        let mut draft = EditDraft::blank();
        draft.name = "Triage".to_owned();
        draft.fields.push(DraftField {
            label: "Subject line".to_owned(),
            ..DraftField::default()
        });
        let mut question = DraftQuestion::new(QuestionType::Choice);
        question.text = "What is the message about?".to_owned();
        for label in ["Spare parts", "Other", "Spare parts!"] {
            question.outcomes.push(EditedOutcome {
                label: label.to_owned(),
                ..EditedOutcome::default()
            });
        }
        draft.questions = vec![question];
        let keys = made_keys(&draft, &DraftBase::default());
        let shown: Vec<_> = keys.iter().map(|(_, key)| key.as_str()).collect();
        let version = PrismFile::read(&draft.file(), None).unwrap().version;
        let fields = version.fields().iter().map(|field| field.key.as_str());
        let mut saved: Vec<_> = fields.skip(1).collect();
        for question in version.questions() {
            saved.push(question.key.as_str());
            saved.extend(question.own_outcomes().iter().map(|it| it.key.as_str()));
        }
        // the first field's key was typed
        assert_eq!(shown[1..], saved);
        assert_eq!(
            saved,
            [
                "subject_line",
                "about",
                "spare_parts",
                "other_2",
                "spare_parts_2"
            ]
        );
        draft.questions[0].text = " ".to_owned();
        let keys = made_keys(&draft, &DraftBase::default());
        assert!(keys.contains(&("questions.0.key".to_owned(), String::new())));
        draft.questions[0].outcomes = vec![EditedOutcome::default(); 254];
        assert!(made_keys(&draft, &DraftBase::default()).is_empty());
        let refusal = PrismFile::read(&draft.file(), None).unwrap_err();
        let mut paths = refusal
            .as_slice()
            .iter()
            .map(|problem| problem.path.as_str());
        assert!(paths.any(|path| path == "questions.0.options"));
    }
}
