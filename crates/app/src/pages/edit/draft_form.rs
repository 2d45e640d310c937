//! Parses the form's inputs into a draft. An input's name is the path of its value in the prism
//! file, so that each problem of the file is shown at its input. And the keys that the form shows for
//! new items.

use std::collections::HashMap;

use refract_authoring::made_names;
use refract_domain::key::OutcomeKey;
use refract_domain::prism::question::{Outcome, Question, QuestionType};

use super::draft::{DraftBase, DraftField, DraftKey, DraftQuestion, EditDraft, EditedOutcome};
use super::trial::MOST_TEXTS;
use crate::replies::page_error::PageError;
use crate::requests::form::Form;

/// The draft in a form's inputs. `base` is the version that the form was made from.
///
/// # Errors
/// [`PageError::NoForm`] when a hidden value written by the app cannot be parsed.
pub(crate) fn read(form: &Form, base: &DraftBase) -> Result<EditDraft, PageError> {
    let inputs = SentInputs::of(form, base);
    let fields = (0..).map_while(|place| inputs.field(&format!("fields.{place}")));
    let mut questions = Vec::new();
    while let Some(question) = inputs.question(&format!("questions.{}", questions.len())) {
        questions.push(question?);
    }
    Ok(EditDraft {
        name: inputs.text("name"),
        fields: fields.collect(),
        context: inputs.text("context"),
        questions,
    })
}

/// The test texts in a form: for each text a value for each field.
pub(crate) fn read_texts(form: &Form) -> Vec<Vec<String>> {
    let inputs = SentInputs::of(form, &DraftBase(None));
    let value = |text: usize, field: usize| {
        let value = inputs.get(&format!("texts.{text}"), &field.to_string())?;
        Some(value.to_owned())
    };
    let texts = (0..MOST_TEXTS).map(|text| (0..).map_while(|field| value(text, field)).collect());
    texts
        .take_while(|text: &Vec<String>| !text.is_empty())
        .collect()
}

/// The values of a form by name.
struct SentInputs<'a> {
    values: HashMap<&'a str, &'a str>,
    base: &'a DraftBase,
}

impl<'a> SentInputs<'a> {
    fn of(form: &'a Form, base: &'a DraftBase) -> Self {
        Self {
            values: form.values().collect(),
            base,
        }
    }

    fn get(&self, path: &str, key: &str) -> Option<&'a str> {
        self.values.get(format!("{path}.{key}").as_str()).copied()
    }

    fn text(&self, name: &str) -> String {
        let value = self.values.get(name).copied();
        value.unwrap_or_default().to_owned()
    }

    fn key(&self, path: &str) -> DraftKey {
        match self.get(path, "saved_key") {
            Some(key) => DraftKey::Saved(key.to_owned()),
            None => DraftKey::Typed(self.text(&format!("{path}.key"))),
        }
    }

    fn field(&self, path: &str) -> Option<DraftField> {
        Some(DraftField {
            label: self.get(path, "label")?.to_owned(),
            key: self.key(path),
        })
    }

    fn question(&self, path: &str) -> Option<Result<DraftQuestion, PageError>> {
        if let Some(folded) = self.get(path, "folded") {
            return Some(self.base.read_question(folded));
        }
        let question_type = QuestionType::parse(self.get(path, "type")?)?;
        let mut question = DraftQuestion {
            key: self.key(path),
            text: self.text(&format!("{path}.text")),
            instructions: self.text(&format!("{path}.instructions")),
            ..DraftQuestion::new(question_type)
        };
        if let Some(list) = question.list() {
            let outcomes = (0..).map_while(|place| self.outcome(&format!("{path}.{list}.{place}")));
            question.outcomes = outcomes.collect();
        }
        Some(Ok(question))
    }

    fn outcome(&self, path: &str) -> Option<EditedOutcome> {
        Some(EditedOutcome {
            label: self.get(path, "label")?.to_owned(),
            key: self.key(path),
            description: self.text(&format!("{path}.description")),
        })
    }
}

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
    use super::*;
    use refract_authoring::prism_file::PrismFile;

    #[test]
    fn a_value_that_was_tampered_with_is_no_form() {
        let mut form = Form::default();
        form.push("questions.0.folded", "[]");
        assert!(matches!(
            read(&form, &DraftBase::default()),
            Err(PageError::NoForm)
        ));
    }

    #[test]
    fn inputs_are_read_by_their_places() {
        let mut form = Form::default();
        for (name, value) in [
            ("name", "Triage"),
            ("fields.0.saved_key", "text"),
            ("fields.0.label", "Message"),
            ("questions.0.type", "choice"),
            ("questions.0.key", "topic"),
            ("questions.0.text", "Which?"),
            ("questions.0.options.0.label", "A"),
            ("questions.0.options.1.label", "B"),
            ("questions.0.options.1.saved_key", "b"),
            ("questions.0.options.3.label", "no second one before it"),
        ] {
            form.push(name, value);
        }
        let draft = read(&form, &DraftBase::default()).unwrap();
        assert_eq!(draft.fields[0].key, DraftKey::Saved("text".to_owned()));
        let question = &draft.questions[0];
        assert_eq!(question.key, DraftKey::Typed("topic".to_owned()));
        assert_eq!(question.outcomes.len(), 2);
        assert_eq!(question.outcomes[1].key, DraftKey::Saved("b".to_owned()));
    }

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
