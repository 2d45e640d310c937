//! `docs/PRISMS.md` says what the schemas say.

use std::collections::BTreeSet;

use refract_authoring::lens_file;
use refract_authoring::prism_file::PrismFile;
use refract_domain::key::{INSUFFICIENT_INFORMATION, OTHER, ROW_NAMES};
use refract_domain::limits;
use serde_json::Value;

use crate::{schema, text_of, validator};

const PAGE: &str = "docs/PRISMS.md";

/// The blocks of JSON in the page.
fn blocks(page: &str) -> Vec<&str> {
    let blocks = page.split("```json\n").skip(1);
    blocks.filter_map(|rest| rest.split("```").next()).collect()
}

/// All keys that a file may have, of every object in the schema.
fn keys(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                found.extend(properties.keys().cloned());
            }
            for value in object.values() {
                keys(value, found);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| keys(element, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_files_of_the_page_are_accepted() {
    let page = text_of(PAGE);
    let [prism, lens] = blocks(&page)[..] else {
        panic!("{PAGE} has one prism file and one lens file");
    };
    let version = PrismFile::read(prism.as_bytes(), None).unwrap().version;
    lens_file::read(lens.as_bytes(), &version).unwrap();
    for (name, file) in [("prism", prism), ("lens", lens)] {
        let file = serde_json::from_str(file).unwrap();
        assert!(validator(name).is_valid(&file), "{name}");
    }
}

#[test]
fn every_key_of_the_schemas_is_explained() {
    let page = text_of(PAGE);
    let mut known = BTreeSet::new();
    for name in ["prism", "lens"] {
        keys(&schema(name), &mut known);
    }
    assert!(known.len() > 12, "{known:?}");
    let outside: String = page.split("```").step_by(2).collect();
    let is_named = |key: &str| {
        outside.contains(&format!("`{key}`")) || outside.contains(&format!("[].{key}`"))
    };
    let missing: Vec<_> = known.iter().filter(|key| !is_named(key)).collect();
    assert!(missing.is_empty(), "{PAGE} does not explain {missing:?}");
}

#[test]
fn every_limit_is_on_the_page() {
    let page = text_of(PAGE);
    let sizes = [
        format!(
            "| `fields` | {} to {}",
            limits::FIELDS.start(),
            limits::FIELDS.end()
        ),
        format!(
            "| `questions` | {} to {}",
            limits::QUESTIONS.start(),
            limits::QUESTIONS.end()
        ),
        format!(
            "of a choice: {} to {}",
            limits::OPTIONS.start(),
            limits::OPTIONS.end()
        ),
        format!(
            "of a scale: {} to {}",
            limits::LEVELS.start(),
            limits::LEVELS.end()
        ),
        format!(
            "{} to {} characters",
            limits::LABEL_CHARS.start(),
            limits::LABEL_CHARS.end()
        ),
        format!("then up to {} lowercase letters", limits::KEY_CHARS - 1),
        format!(
            "There are {} to {} `columns`",
            limits::LENS_COLUMNS.start(),
            limits::LENS_COLUMNS.end()
        ),
        format!("up to {} characters", limits::COLUMN_NAME_CHARS),
        "8,000 characters".to_owned(),
    ];
    let same = [
        limits::INSTRUCTIONS_CHARS,
        limits::DESCRIPTION_CHARS,
        limits::PRISM_CONTEXT_CHARS,
    ];
    assert!(
        same.iter()
            .chain([limits::QUESTION_TEXT_CHARS.end()])
            .all(|chars| *chars == 8_000)
    );
    let keys = ROW_NAMES
        .into_iter()
        .chain(["context", OTHER, INSUFFICIENT_INFORMATION]);
    for words in sizes.into_iter().chain(keys.map(|key| format!("`{key}`"))) {
        assert!(page.contains(&words), "{PAGE} lacks: {words}");
    }
}
