//! The prism file, which defines a prism version.
//!
//! A file is read to the end, and the error lists every problem, so that one round of corrections
//! is enough.

mod questions;

use std::collections::BTreeSet;

use refract_domain::json::Object;
use refract_domain::key::FieldKey;
use refract_domain::lens::Lens;
use refract_domain::limits::{FIELDS, LABEL_CHARS, PRISM_CONTEXT_CHARS};
use refract_domain::prism::field::Field;
use refract_domain::prism::question::Question;
use refract_domain::prism::{DisplayName, PrismVersion};
use refract_domain::problem::{Problems, ValidationError};
use serde::Serialize;

use self::questions::read_questions;
use crate::earlier_versions::EarlierVersions;
use crate::file_reader::{FileReader, ROOT, join};

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

#[cfg(test)]
mod tests;
