//! The JSON Schemas of prism and lens files are held to the code that reads the files, and
//! `docs/PRISMS.md` to both.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a broken fixture fails the test"
)]

mod lens_schema;
mod page;
mod prism_schema;

use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::Value;

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text_of(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A schema of `docs/examples`.
fn schema(name: &str) -> Value {
    serde_json::from_str(&text_of(&format!("docs/examples/{name}.schema.json"))).unwrap()
}

fn validator(name: &str) -> Validator {
    jsonschema::draft202012::new(&schema(name)).unwrap()
}

/// The prism or lens files of `docs/examples` whose name is accepted.
fn examples(is_one: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let files = std::fs::read_dir(root().join("docs/examples")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let is_json = |name: &str| Path::new(name).extension().is_some_and(|end| end == "json");
    let mut found: Vec<_> = names
        .filter(|name| is_json(name) && !name.ends_with(".schema.json") && is_one(name))
        .map(|name| (name.clone(), text_of(&format!("docs/examples/{name}"))))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no examples are found");
    found
}

/// Text of this many characters.
fn chars(count: usize) -> Value {
    "a".repeat(count).into()
}

/// The file with another value at a place, whose last part may be a new key.
fn with(file: &Value, pointer: &str, value: Value) -> Value {
    let mut file = file.clone();
    if let Some(place) = file.pointer_mut(pointer) {
        *place = value;
        return file;
    }
    let (object, key) = pointer.rsplit_once('/').unwrap();
    file.pointer_mut(object).unwrap()[key] = value;
    file
}

/// The file without the key at a place.
fn without(file: &Value, pointer: &str) -> Value {
    let mut file = file.clone();
    let (object, key) = pointer.rsplit_once('/').unwrap();
    let object = file.pointer_mut(object).unwrap().as_object_mut().unwrap();
    object
        .remove(key)
        .unwrap_or_else(|| panic!("{pointer} is there"));
    file
}
