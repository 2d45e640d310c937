//! The schema of lens files accepts and refuses as the reader does.

use refract_authoring::lens_file;
use refract_authoring::prism_file::PrismFile;
use refract_domain::key::ROW_NAMES;
use refract_domain::lens::Output;
use refract_domain::limits;
use refract_domain::prism::{PrismVersion, QuestionType};
use serde_json::{Value, json};

use crate::{chars, examples, schema, text_of, validator, with, without};

/// The prism that the examples' lens belongs to.
fn latest() -> PrismVersion {
    let file = text_of("docs/examples/support-triage.json");
    PrismFile::read(file.as_bytes(), None).unwrap().version
}

fn full() -> Value {
    json!({
        "$schema": "lens.schema.json",
        "$comment": 1,
        "columns": [
            {"$comment": 1, "name": "is_angry", "question": "angry", "output": "label", "no_below": 0.4, "yes_from": 1},
            {"question": "topic", "output": "top", "no_below": null},
        ],
    })
}

/// Both accept a file, or both refuse it.
fn assert_alike(file: &Value, is_good: bool, what: &str) {
    let read = lens_file::read(file.to_string().as_bytes(), &latest());
    assert_eq!(read.is_ok(), is_good, "the reader, {what}");
    assert_eq!(
        validator("lens").is_valid(file),
        is_good,
        "the schema, {what}"
    );
}

#[test]
fn the_examples_and_a_full_file_are_accepted_by_both() {
    assert_alike(&full(), true, "a full file");
    for (name, text) in examples(|name| name.ends_with(".lens.json")) {
        let file: Value = serde_json::from_str(&text).unwrap();
        assert_alike(&file, true, &name);
        assert_eq!(
            file["$schema"], "lens.schema.json",
            "{name} names its schema"
        );
    }
}

#[test]
fn limits_keys_and_names_are_the_same() {
    let column = |n: usize| json!({"name": format!("c{n}"), "question": "topic", "output": "top"});
    let columns = |count: usize| (0..count).map(column).collect::<Value>();
    let sizes = limits::LENS_COLUMNS;
    for (size, is_good) in [
        (0, false),
        (*sizes.start(), true),
        (*sizes.end(), true),
        (*sizes.end() + 1, false),
    ] {
        assert_alike(
            &with(&full(), "/columns", columns(size)),
            is_good,
            "columns",
        );
    }
    let name = "/columns/0/name";
    assert_alike(
        &with(&full(), name, chars(limits::COLUMN_NAME_CHARS)),
        true,
        "a long name",
    );
    assert_alike(
        &with(&full(), name, chars(limits::COLUMN_NAME_CHARS + 1)),
        false,
        "a longer name",
    );
    assert_alike(
        &with(&full(), name, json!("context")),
        true,
        "the name context",
    );
    for wrong in ROW_NAMES.into_iter().chain(["A", "", "1"]) {
        assert_alike(&with(&full(), name, json!(wrong)), false, wrong);
    }
    for (pointer, is_required) in [
        ("/$schema", false),
        ("/columns", true),
        ("/columns/0/name", false),
        ("/columns/0/question", true),
        ("/columns/0/output", true),
        ("/columns/0/no_below", false),
        ("/columns/0/yes_from", false),
    ] {
        assert_alike(&without(&full(), pointer), !is_required, pointer);
    }
    for unknown in ["/mode", "/columns/0/type", "/columns/0/$schema"] {
        assert_alike(&with(&full(), unknown, json!("x")), false, unknown);
    }
}

#[test]
fn cutoffs_have_the_same_bounds_and_belong_to_labels() {
    let bare = without(&full(), "/columns/0/yes_from");
    for (value, is_good) in [
        (0.0, false),
        (-0.1, false),
        (0.000_001, true),
        (0.999, true),
        (1.0, false),
    ] {
        assert_alike(
            &with(&bare, "/columns/0/no_below", json!(value)),
            is_good,
            "no_below",
        );
    }
    for (value, is_good) in [(0.0, false), (0.41, true), (1.0, true), (1.000_001, false)] {
        assert_alike(
            &with(&full(), "/columns/0/yes_from", json!(value)),
            is_good,
            "yes_from",
        );
    }
    assert_alike(
        &with(&full(), "/columns/1/no_below", json!(0.5)),
        false,
        "a cutoff of another output",
    );
    assert_alike(
        &with(&full(), "/columns/0/no_below", json!("0.5")),
        false,
        "a cutoff as text",
    );
}

#[test]
fn every_output_of_the_code_is_in_the_schema() {
    let types = QuestionType::NAMES
        .into_iter()
        .filter_map(QuestionType::parse);
    let mut names: Vec<&str> = types
        .flat_map(|of| Output::names(of).iter().copied())
        .collect();
    names.sort_unstable();
    names.dedup();
    let listed = &schema("lens")["$defs"]["column"]["properties"]["output"];
    let mut known: Vec<&str> = listed["enum"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    known.sort_unstable();
    assert_eq!(known, names);
}
