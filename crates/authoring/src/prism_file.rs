//! The prism file, which defines a prism version: its questions, with their options and levels and the
//! keys of these.
//!
//! A file is read to the end, and the error lists every problem, so that one round of corrections
//! is enough.

use std::collections::BTreeSet;

use refract_domain::json::{Json, Object};
use refract_domain::key::{FieldKey, OutcomeKey, QuestionKey};
use refract_domain::lens::Lens;
use refract_domain::limits::{
    DESCRIPTION_CHARS, FIELDS, INSTRUCTIONS_CHARS, LABEL_CHARS, LEVELS, OPTIONS,
    PRISM_CONTEXT_CHARS, QUESTION_TEXT_CHARS, QUESTIONS,
};
use refract_domain::prism::{
    DisplayName, Field, Outcome, PrismVersion, Question, QuestionKind, QuestionType,
};
use refract_domain::problem::{Problems, ValidationError};
use serde::Serialize;

use crate::earlier_versions::EarlierVersions;
use crate::file_reader::{FileReader, ROOT, join};
use crate::made_names::outcome_keys;

/// A valid prism file.
#[derive(Clone, Debug, PartialEq)]
pub struct PrismFile {
    /// The prism's name.
    pub name: DisplayName,
    /// The version to save.
    pub version: PrismVersion,
}

impl PrismFile {
    /// Reads a prism file. `earlier` is `None` for a new prism, and for a saved version that is only read
    /// again.
    ///
    /// # Errors
    /// Every problem in the file, with its path such as `questions.0.options.1.key`.
    pub fn read(bytes: &[u8], earlier: Option<&EarlierVersions>) -> Result<Self, Problems> {
        let mut reader = FileReader::default();
        let Some(file) = reader.root(bytes) else {
            return Err(reader.problems);
        };
        reader.refuse_keys_besides(ROOT, &file, &["name", "fields", "context", "questions"]);
        let name = read_name(&mut reader, &file);
        let fields = read_fields(&mut reader, &file, earlier);
        let context = reader.optional_text(ROOT, &file, "context", PRISM_CONTEXT_CHARS);
        let questions = read_questions(&mut reader, &file, &fields, earlier);
        refuse_clash_with_lens(&mut reader, &fields, &questions, earlier);
        let Some(name) = name else {
            return Err(reader.problems);
        };
        reader.problems.none_or(())?;
        let fields = fields.into_iter().flatten().collect();
        let questions = questions.into_iter().flatten().collect();
        Ok(Self {
            name,
            version: PrismVersion::new(fields, context, questions),
        })
    }
}

/// A saved version in the form of the prism file, with every key present.
#[derive(Serialize)]
pub struct ShownPrism<'a> {
    name: &'a str,
    #[serde(flatten)]
    version: &'a PrismVersion,
}

impl<'a> ShownPrism<'a> {
    /// A version of the prism with this name.
    pub fn new(name: &'a str, version: &'a PrismVersion) -> Self {
        Self { name, version }
    }
}

fn read_name(reader: &mut FileReader, file: &Object<'_>) -> Option<DisplayName> {
    let name = reader.label(ROOT, file, "name", &LABEL_CHARS)?;
    DisplayName::parse(&name).ok()
}

/// Refuses a field whose key is the name of a custom column that the lens keeps (readings).
fn refuse_clash_with_lens(
    reader: &mut FileReader,
    fields: &[Option<Field>],
    questions: &[Option<Question>],
    earlier: Option<&EarlierVersions>,
) {
    let Some(Lens::Custom(columns)) = earlier.map(|earlier| &earlier.lens) else {
        return;
    };
    for (index, field) in fields.iter().enumerate() {
        let Some(field) = field else { continue };
        let clashes = columns.iter().any(|column| {
            let stays = questions
                .iter()
                .flatten()
                .any(|question| question.key == column.question);
            stays && column.name.as_str() == field.key.as_str()
        });
        if clashes {
            let rule = format!("is the name of the lens column '{}'", field.key);
            reader.problems.add(
                join(&join("fields", index), "key"),
                ValidationError::rule(rule),
            );
        }
    }
}

/// Reads the fields by position; a wrong field is `None`.
fn read_fields(
    reader: &mut FileReader,
    file: &Object<'_>,
    earlier: Option<&EarlierVersions>,
) -> Vec<Option<Field>> {
    let mut seen = BTreeSet::new();
    let elements = reader
        .list(ROOT, file, "fields", &FIELDS)
        .unwrap_or_default();
    let fields = elements.into_iter().enumerate().map(|(index, json)| {
        let path = join("fields", index);
        let object = reader.object(&path, json)?;
        reader.refuse_keys_besides(&path, &object, &["key", "label"]);
        let key = reader.key(&path, &object, FieldKey::parse);
        if let Some(key) = &key {
            let was_question = earlier.is_some_and(|earlier| earlier.keys.has_question_named(key));
            if !seen.insert(key.clone()) {
                reader
                    .problems
                    .add(join(&path, "key"), ValidationError::rule("is used twice"));
            } else if was_question {
                let rule = "was a question's key in an earlier version, so it cannot be a field's";
                reader
                    .problems
                    .add(join(&path, "key"), ValidationError::rule(rule));
            }
        }
        let label = reader.label(&path, &object, "label", &LABEL_CHARS);
        Some(Field {
            key: key?,
            label: label?,
        })
    });
    fields.collect()
}

/// Reads the questions by position; a wrong question is `None`.
fn read_questions(
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
        let previous = key.as_ref().and_then(|key| {
            let EarlierVersions { latest, keys, .. } = earlier?;
            latest.question(key).or_else(|| keys.question(key))
        });
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
    let before = earlier.and_then(|earlier| earlier.keys.question(key));
    let before = before.map(Question::question_type);
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

#[cfg(test)]
mod tests;
