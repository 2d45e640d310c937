//! Parses the form's inputs into a draft. An input's name is the path of its value in the prism
//! file, so that each problem of the file is shown at its input.

use std::collections::HashMap;

use refract_domain::prism::QuestionType;

use super::carried_draft::DraftBase;
use super::draft::{DraftField, DraftKey, DraftQuestion, EditDraft, EditedOutcome};
use super::item_keys::SLUG;
use super::trial::MOST_TEXTS;
use crate::replies::PageError;
use crate::requests::Form;

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
        slug: inputs.text(SLUG),
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
        if let Some(key) = self.get(path, "same") {
            return Some(self.base.same_question(key));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
