//! The questions of a prism file, with their options and levels and the keys of these.

use std::collections::BTreeSet;

use refract_domain::json::{Json, Object};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::limits::{
    DESCRIPTION_CHARS, INSTRUCTIONS_CHARS, LABEL_CHARS, LEVELS, OPTIONS, QUESTION_TEXT_CHARS,
    QUESTIONS,
};
use refract_domain::prism::field::Field;
use refract_domain::prism::question::{Outcome, Question, QuestionKind, QuestionType};
use refract_domain::problem::ValidationError;

use crate::earlier_versions::EarlierVersions;
use crate::file_reader::{FileReader, ROOT, join};
use crate::made_names::outcome_keys;

/// Reads the questions by position; a wrong question is `None`.
pub(super) fn read_questions(
    reader: &mut FileReader,
    file: &Object<'_>,
    fields: &[Option<Field>],
    earlier: Option<&EarlierVersions>,
) -> Vec<Option<Question>> {
    let mut seen = BTreeSet::new();
    let elements = reader
        .list(ROOT, file, "questions", &QUESTIONS)
        .unwrap_or_default();
    let questions = elements.into_iter().enumerate().map(|(index, json)| {
        let path = join("questions", index);
        let object = reader.object(&path, json)?;
        let key = reader.key(&path, &object, QuestionKey::parse);
        if let Some(key) = &key {
            let is_field = |field: &Field| field.key.as_str() == key.as_str();
            let was_field = earlier.is_some_and(|earlier| earlier.keys.has_field_named(key));
            let rule = if !seen.insert(key.clone()) {
                Some("is used twice")
            } else if fields.iter().flatten().any(is_field) {
                Some("is a field's key already")
            } else if was_field {
                Some("was a field's key in an earlier version, so it cannot be a question's")
            } else {
                None
            };
            reader
                .problems
                .add_all(&join(&path, "key"), rule.map(ValidationError::rule));
        }
        let previous = key.as_ref().and_then(|key| earlier?.latest.question(key));
        let question_type = read_type(reader, &path, &object);
        if let (Some(key), Some(question_type)) = (&key, question_type) {
            refuse_other_type(reader, &path, key, question_type, earlier);
        }
        let text = reader
            .required_string(&path, &object, "text")
            .and_then(|text| reader.measured(&join(&path, "text"), text, &QUESTION_TEXT_CHARS));
        let instructions = reader.optional_text(&path, &object, "instructions", INSTRUCTIONS_CHARS);
        let kind = read_kind(reader, &path, &object, question_type?, previous);
        Some(Question {
            key: key?,
            text: text?,
            instructions,
            kind: kind?,
        })
    });
    questions.collect()
}

fn read_type(reader: &mut FileReader, path: &str, object: &Object<'_>) -> Option<QuestionType> {
    let sent = reader.required_string(path, object, "type")?;
    let parsed =
        QuestionType::parse(&sent.text).ok_or(ValidationError::NotOneOf(&QuestionType::NAMES));
    reader.parsed(&join(path, "type"), parsed)
}

/// Refuses a question whose key had another type in an earlier version (spec 2.3).
fn refuse_other_type(
    reader: &mut FileReader,
    path: &str,
    key: &QuestionKey,
    question_type: QuestionType,
    earlier: Option<&EarlierVersions>,
) {
    let before = earlier.and_then(|earlier| earlier.keys.type_of(key));
    if let Some(before) = before.filter(|before| *before != question_type) {
        let rule = format!(
            "was {} in an earlier version, and a key keeps its type",
            before.name()
        );
        reader
            .problems
            .add(join(path, "type"), ValidationError::rule(rule));
    }
}

fn read_kind(
    reader: &mut FileReader,
    path: &str,
    object: &Object<'_>,
    question_type: QuestionType,
    previous: Option<&Question>,
) -> Option<QuestionKind> {
    let mut known = vec!["key", "type", "text", "instructions"];
    known.extend(match question_type {
        QuestionType::Choice => Some("options"),
        QuestionType::YesNo => None,
        QuestionType::Scale => Some("levels"),
    });
    reader.refuse_keys_besides(path, object, &known);
    let previous = previous.map(Question::own_outcomes).unwrap_or_default();
    match question_type {
        QuestionType::Choice => {
            let elements = reader.list(path, object, "options", &OPTIONS)?;
            let path = join(path, "options");
            let is_reserved = OutcomeKey::is_built_in;
            let options = read_outcomes(reader, &path, elements, previous, is_reserved)?;
            Some(QuestionKind::Choice { options })
        }
        QuestionType::YesNo => Some(QuestionKind::YesNo),
        QuestionType::Scale => {
            let elements = reader.list(path, object, "levels", &LEVELS)?;
            let path = join(path, "levels");
            let levels = read_outcomes(reader, &path, elements, previous, |_| false)?;
            Some(QuestionKind::Scale { levels })
        }
    }
}

/// Reads options or levels. An outcome without a key gets one for its label: the key that the label
/// has in `previous`, or else a new one.
fn read_outcomes(
    reader: &mut FileReader,
    path: &str,
    elements: Vec<Json<'_>>,
    previous: &[Outcome],
    is_reserved: fn(&OutcomeKey) -> bool,
) -> Option<Vec<Outcome>> {
    let mut taken = BTreeSet::new();
    let sent: Vec<_> = elements
        .into_iter()
        .enumerate()
        .map(|(index, json)| {
            let outcome = read_outcome(reader, &join(path, index), json)?;
            if let Some(key) = &outcome.key {
                let rule = if is_reserved(key) {
                    Some("is the key of an outcome that every choice has: leave it out")
                } else if !taken.insert(key.clone()) {
                    Some("is used twice")
                } else {
                    None
                };
                reader.problems.add_all(
                    &join(&join(path, index), "key"),
                    rule.map(ValidationError::rule),
                );
            }
            Some(outcome)
        })
        .collect();
    let sent: Vec<SentOutcome> = sent.into_iter().collect::<Option<_>>()?;
    let keyed = sent.iter();
    let keyed: Vec<_> = keyed
        .map(|it| (it.key.clone(), it.label.as_str()))
        .collect();
    let keys = outcome_keys(&keyed, previous, is_reserved);
    let outcomes = sent.into_iter().zip(keys);
    let outcomes = outcomes.map(|(outcome, key)| Outcome {
        key,
        label: outcome.label,
        description: outcome.description,
    });
    Some(outcomes.collect())
}

/// An option or level as it was sent, with or without a key.
struct SentOutcome {
    key: Option<OutcomeKey>,
    label: String,
    description: Option<String>,
}

fn read_outcome(reader: &mut FileReader, path: &str, json: Json<'_>) -> Option<SentOutcome> {
    // the commonest slip: a list of labels
    let is_label = matches!(json, Json::String(_));
    let object = json.into_object().map_err(|error| {
        if is_label {
            ValidationError::rule(format!(r#"{error}: write {{"label": "…"}}"#))
        } else {
            error
        }
    });
    let object = reader.parsed(path, object)?;
    reader.refuse_keys_besides(path, &object, &["key", "label", "description"]);
    let has_key = object.has("key");
    let key = reader
        .optional_string(path, &object, "key")
        .and_then(|sent| reader.parsed(&join(path, "key"), OutcomeKey::parse(&sent.text)));
    let label = reader.label(path, &object, "label", &LABEL_CHARS);
    let description = reader.optional_text(path, &object, "description", DESCRIPTION_CHARS);
    if has_key && key.is_none() {
        return None;
    }
    Some(SentOutcome {
        key,
        label: label?,
        description,
    })
}
