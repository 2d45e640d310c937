//! The prism file: what a prism version is made from.
//!
//! A file is read whole, and a refusal names every problem in it, so that it is mended in one go.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::field::Field;
use crate::file_reader::{FileReader, ROOT, join};
use crate::json::{Json, Object};
use crate::key::{FieldKey, OutcomeKey, QuestionKey};
use crate::lens::Lens;
use crate::limits::{
    DESCRIPTION_CHARS, FIELDS, INSTRUCTIONS_CHARS, LABEL_CHARS, LEVELS, OPTIONS,
    PRISM_CONTEXT_CHARS, QUESTION_TEXT_CHARS, QUESTIONS,
};
use crate::prism::{KeyHistory, PrismName, PrismVersion};
use crate::problem::{Fault, Problems};
use crate::question::{Outcome, Question, QuestionKind, QuestionType};

/// What the versions before hold a new one to.
#[derive(Clone, Debug)]
pub struct Past {
    /// The latest version: options keep the keys that their labels have in it.
    pub latest: PrismVersion,
    /// Every key that any version ever had.
    pub keys: KeyHistory,
    /// The prism's lens: its column names are taken.
    pub lens: Lens,
}

/// A prism file that was read and is valid.
#[derive(Clone, Debug, PartialEq)]
pub struct PrismFile {
    /// The prism's name.
    pub name: PrismName,
    /// The version that it makes.
    pub version: PrismVersion,
}

impl PrismFile {
    /// Reads a file; `past` is what went before, `None` for a new prism.
    ///
    /// # Errors
    /// Every problem in the file, with its path such as `questions.0.options.1.key`.
    pub fn read(bytes: &[u8], past: Option<&Past>) -> Result<Self, Problems> {
        let mut reader = FileReader::default();
        let Some(file) = reader.root(bytes) else {
            return Err(reader.problems);
        };
        reader.refuse_keys_besides(ROOT, &file, &["name", "fields", "context", "questions"]);
        let name = read_name(&mut reader, &file);
        let fields = read_fields(&mut reader, &file, past);
        let context = reader.optional_text(ROOT, &file, "context", PRISM_CONTEXT_CHARS);
        let questions = read_questions(&mut reader, &file, &fields, past);
        refuse_clash_with_lens(&mut reader, &fields, &questions, past);
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

/// A saved version in the form of the prism file, every key filled in.
#[derive(Serialize)]
pub struct ShownPrism<'a> {
    name: &'a str,
    #[serde(flatten)]
    version: &'a PrismVersion,
}

impl<'a> ShownPrism<'a> {
    /// A version of the prism of that name.
    pub fn new(name: &'a str, version: &'a PrismVersion) -> Self {
        Self { name, version }
    }
}

fn read_name(reader: &mut FileReader, file: &Object<'_>) -> Option<PrismName> {
    let name = reader.label(ROOT, file, "name", &LABEL_CHARS)?;
    PrismName::parse(&name).ok()
}

/// The fields by position, `None` where one is wrong.
fn read_fields(
    reader: &mut FileReader,
    file: &Object<'_>,
    past: Option<&Past>,
) -> Vec<Option<Field>> {
    let mut seen = BTreeSet::new();
    let elements = reader
        .list(ROOT, file, "fields", &FIELDS)
        .unwrap_or_default();
    let fields = elements.into_iter().enumerate().map(|(index, json)| {
        let path = join("fields", index);
        let object = reader.object(&path, json)?;
        reader.refuse_keys_besides(&path, &object, &["key", "label"]);
        let key = read_key(reader, &path, &object, FieldKey::parse);
        if let Some(key) = &key {
            let was_question = past.is_some_and(|past| {
                past.keys
                    .questions
                    .keys()
                    .any(|q| q.as_str() == key.as_str())
            });
            if !seen.insert(key.clone()) {
                reader
                    .problems
                    .add(join(&path, "key"), Fault::rule("is used twice"));
            } else if was_question {
                let rule = "was a question's key in an earlier version, so it cannot be a field's";
                reader.problems.add(join(&path, "key"), Fault::rule(rule));
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

fn read_key<K>(
    reader: &mut FileReader,
    path: &str,
    object: &Object<'_>,
    parse: impl Fn(&str) -> Result<K, Fault>,
) -> Option<K> {
    let sent = reader.required_string(path, object, "key")?;
    reader.parsed(&join(path, "key"), parse(&sent.text))
}

/// The questions by position, `None` where one is wrong.
fn read_questions(
    reader: &mut FileReader,
    file: &Object<'_>,
    fields: &[Option<Field>],
    past: Option<&Past>,
) -> Vec<Option<Question>> {
    let mut seen = BTreeSet::new();
    let elements = reader
        .list(ROOT, file, "questions", &QUESTIONS)
        .unwrap_or_default();
    let questions = elements.into_iter().enumerate().map(|(index, json)| {
        let path = join("questions", index);
        let object = reader.object(&path, json)?;
        let key = read_key(reader, &path, &object, QuestionKey::parse);
        if let Some(key) = &key {
            let is_field = |field: &Field| field.key.as_str() == key.as_str();
            let was_field = past
                .is_some_and(|past| past.keys.fields.iter().any(|f| f.as_str() == key.as_str()));
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
                .add_all(&join(&path, "key"), rule.map(Fault::rule));
        }
        let previous = key.as_ref().and_then(|key| past?.latest.question(key));
        let question_type = read_type(reader, &path, &object);
        if let (Some(key), Some(question_type)) = (&key, question_type) {
            refuse_other_type(reader, &path, key, question_type, past);
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
    let parsed = QuestionType::parse(&sent.text).ok_or(Fault::NotOneOf(&QuestionType::NAMES));
    reader.parsed(&join(path, "type"), parsed)
}

/// A key keeps its type over every version (spec 2.3).
fn refuse_other_type(
    reader: &mut FileReader,
    path: &str,
    key: &QuestionKey,
    question_type: QuestionType,
    past: Option<&Past>,
) {
    let before = past.and_then(|past| past.keys.questions.get(key));
    if let Some(before) = before.filter(|before| **before != question_type) {
        let rule = format!(
            "was {} in an earlier version, and a key keeps its type",
            before.name()
        );
        reader.problems.add(join(path, "type"), Fault::rule(rule));
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
            let is_reserved = |key: &OutcomeKey| key.is_built_in();
            let options = read_outcomes(
                reader,
                &join(path, "options"),
                elements,
                previous,
                is_reserved,
            )?;
            Some(QuestionKind::Choice { options })
        }
        QuestionType::YesNo => Some(QuestionKind::YesNo),
        QuestionType::Scale => {
            let elements = reader.list(path, object, "levels", &LEVELS)?;
            let levels =
                read_outcomes(reader, &join(path, "levels"), elements, previous, |_| false)?;
            Some(QuestionKind::Scale { levels })
        }
    }
}

/// An option or level whose key may not be known yet.
struct SentOutcome {
    key: Option<OutcomeKey>,
    label: String,
    description: Option<String>,
}

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
                    Some("is the key of a built-in outcome")
                } else if !taken.insert(key.clone()) {
                    Some("is used twice")
                } else {
                    None
                };
                reader
                    .problems
                    .add_all(&join(&join(path, index), "key"), rule.map(Fault::rule));
            }
            Some(outcome)
        })
        .collect();
    let mut sent: Vec<SentOutcome> = sent.into_iter().collect::<Option<_>>()?;
    // keys that labels had in the previous version go first, so that a new label never takes one
    for outcome in sent.iter_mut().filter(|outcome| outcome.key.is_none()) {
        let mut had = previous
            .iter()
            .filter(|before| before.label == outcome.label);
        outcome.key = had
            .find(|before| taken.insert(before.key.clone()))
            .map(|had| had.key.clone());
    }
    let outcomes = sent.into_iter().map(
        |SentOutcome {
             key,
             label,
             description,
         }| {
            let key = key.unwrap_or_else(|| {
                let is_taken = |key: &str| {
                    OutcomeKey::parse(key)
                        .is_ok_and(|key| taken.contains(&key) || is_reserved(&key))
                };
                let derived = OutcomeKey::derive(&label, is_taken);
                taken.insert(derived.clone());
                derived
            });
            Outcome {
                key,
                label,
                description,
            }
        },
    );
    Some(outcomes.collect())
}

fn read_outcome(reader: &mut FileReader, path: &str, json: Json<'_>) -> Option<SentOutcome> {
    let object = reader.object(path, json)?;
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

/// A field may not have the name of a custom column that stays (readings).
fn refuse_clash_with_lens(
    reader: &mut FileReader,
    fields: &[Option<Field>],
    questions: &[Option<Question>],
    past: Option<&Past>,
) {
    let Some(Lens::Custom(columns)) = past.map(|past| &past.lens) else {
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
            reader
                .problems
                .add(join(&join("fields", index), "key"), Fault::rule(rule));
        }
    }
}

#[cfg(test)]
mod tests;
