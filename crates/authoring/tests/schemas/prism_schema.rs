//! The schema of prism files accepts and refuses as the reader does.

use proptest::prelude::*;
use proptest::sample::select;
use refract_authoring::prism_file::PrismFile;
use refract_domain::key::{INSUFFICIENT_INFORMATION, OTHER, ROW_NAMES};
use refract_domain::limits;
use refract_domain::prism::QuestionType;
use serde_json::{Value, json};

use crate::{chars, examples, schema, validator, with, without};

fn is_read(file: &Value) -> bool {
    PrismFile::read(file.to_string().as_bytes(), None).is_ok()
}

/// A file with everything that a file may have.
fn full() -> Value {
    json!({
        "$schema": "prism.schema.json",
        "$comment": ["any", 1],
        "name": "Triage",
        "fields": [{"key": "text", "label": "Message", "$comment": 1}],
        "context": "We sell bicycles.",
        "questions": [
            {"key": "topic", "type": "choice", "text": "What is it about?", "instructions": "Judge.", "options": [
                {"key": "a", "label": "A", "description": "first"}, {"label": "B", "$comment": null}]},
            {"key": "angry", "type": "yes_no", "text": "Angry?", "$comment": "x"},
            {"key": "urgency", "type": "scale", "text": "How urgent?", "levels": [{"label": "Low"}, {"label": "High"}]},
        ],
    })
}

/// Both accept a file, or both refuse it.
fn assert_alike(file: &Value, is_good: bool, what: &str) {
    assert_eq!(is_read(file), is_good, "the reader, {what}");
    assert_eq!(
        validator("prism").is_valid(file),
        is_good,
        "the schema, {what}"
    );
}

/// `count` elements of a list, with keys or labels of their own.
fn list(count: usize, element: impl Fn(usize) -> Value) -> Value {
    (0..count).map(element).collect()
}

#[test]
fn the_examples_and_a_full_file_are_accepted_by_both() {
    assert_alike(&full(), true, "a full file");
    let names = ["$schema", "prism.schema.json"];
    for (name, text) in examples(|name| !name.ends_with(".lens.json")) {
        let file: Value = serde_json::from_str(&text).unwrap();
        assert_alike(&file, true, &name);
        assert_eq!(file[names[0]], names[1], "{name} names its schema");
    }
}

#[test]
fn each_limit_of_the_code_is_that_of_the_schema() {
    let field = |n: usize| json!({"key": format!("f{n}"), "label": "F"});
    let question = |n: usize| json!({"key": format!("q{n}"), "type": "yes_no", "text": "?"});
    let outcome = |n: usize| json!({"label": format!("o{n}")});
    let lists: [(&str, _, &dyn Fn(usize) -> Value); 4] = [
        ("/fields", limits::FIELDS, &field),
        ("/questions", limits::QUESTIONS, &question),
        ("/questions/0/options", limits::OPTIONS, &outcome),
        ("/questions/2/levels", limits::LEVELS, &outcome),
    ];
    for (pointer, sizes, element) in lists {
        for size in [*sizes.start(), *sizes.end()] {
            assert_alike(&with(&full(), pointer, list(size, element)), true, pointer);
        }
        for size in [*sizes.start() - 1, *sizes.end() + 1] {
            assert_alike(&with(&full(), pointer, list(size, element)), false, pointer);
        }
    }
    for (pointer, least, most) in [
        ("/name", 1, *limits::LABEL_CHARS.end()),
        ("/fields/0/label", 1, *limits::LABEL_CHARS.end()),
        (
            "/questions/0/options/1/label",
            1,
            *limits::LABEL_CHARS.end(),
        ),
        ("/questions/0/text", 1, *limits::QUESTION_TEXT_CHARS.end()),
        ("/context", 0, limits::PRISM_CONTEXT_CHARS),
        ("/questions/1/instructions", 0, limits::INSTRUCTIONS_CHARS),
        (
            "/questions/2/levels/0/description",
            0,
            limits::DESCRIPTION_CHARS,
        ),
        ("/fields/0/key", 1, limits::KEY_CHARS),
        ("/questions/0/key", 1, limits::KEY_CHARS),
        ("/questions/0/options/0/key", 1, limits::KEY_CHARS),
    ] {
        assert_alike(&with(&full(), pointer, chars(most)), true, pointer);
        assert_alike(&with(&full(), pointer, chars(most + 1)), false, pointer);
        assert_alike(&with(&full(), pointer, chars(least)), true, pointer);
        assert_alike(&with(&full(), pointer, chars(0)), least == 0, pointer);
    }
}

#[test]
fn both_require_the_same_keys_and_refuse_unknown_ones() {
    for (pointer, is_required) in [
        ("/$schema", false),
        ("/$comment", false),
        ("/name", true),
        ("/fields", true),
        ("/context", false),
        ("/questions", true),
        ("/fields/0/key", true),
        ("/fields/0/label", true),
        ("/questions/0/key", true),
        ("/questions/0/type", true),
        ("/questions/0/text", true),
        ("/questions/0/instructions", false),
        ("/questions/0/options", true),
        ("/questions/2/levels", true),
        ("/questions/0/options/0/key", false),
        ("/questions/0/options/0/label", true),
        ("/questions/0/options/0/description", false),
    ] {
        assert_alike(&without(&full(), pointer), !is_required, pointer);
    }
    for object in [
        "",
        "/fields/0",
        "/questions/0",
        "/questions/0/options/0",
        "/questions/2/levels/1",
    ] {
        let unknown = format!("{object}/colour");
        assert_alike(&with(&full(), &unknown, json!(1)), false, &unknown);
    }
    // only the whole file names a schema
    assert_alike(
        &with(&full(), "/questions/0/$schema", json!("x")),
        false,
        "$schema of a question",
    );
    assert_alike(
        &with(&full(), "/$schema", json!(1)),
        false,
        "a schema of another type",
    );
}

#[test]
fn keys_types_and_outcomes_are_the_same() {
    let reserved = ROW_NAMES.into_iter().chain(["context"]);
    for key in reserved.chain(["A", "1a", "_a", "a-b", "a b", "ä"]) {
        assert_alike(&with(&full(), "/fields/0/key", json!(key)), false, key);
        assert_alike(&with(&full(), "/questions/0/key", json!(key)), false, key);
    }
    for key in [OTHER, INSUFFICIENT_INFORMATION] {
        assert_alike(
            &with(&full(), "/questions/0/options/0/key", json!(key)),
            false,
            key,
        );
        assert_alike(
            &with(&full(), "/questions/2/levels/0/key", json!(key)),
            true,
            key,
        );
    }
    let types = &schema("prism")["$defs"]["question"]["properties"]["type"]["enum"];
    assert_eq!(*types, json!(QuestionType::NAMES));
    let outcomes = || json!([{"label": "A"}, {"label": "B"}]);
    for (pointer, what) in [
        ("/questions/1/options", "options of a yes_no"),
        ("/questions/2/options", "options of a scale"),
        ("/questions/0/levels", "levels of a choice"),
        ("/questions/1/levels", "levels of a yes_no"),
    ] {
        assert_alike(&with(&full(), pointer, outcomes()), false, what);
    }
}

proptest! {
    /// Where an editor marks a fault, there is one: whatever the reader takes, the schema takes.
    #[test]
    fn what_the_reader_takes_the_schema_takes(
        pointer in select(vec![
            "/name", "/context", "/fields", "/questions", "/fields/0/key", "/fields/0/label", "/questions/0/type",
            "/questions/0/text", "/questions/0/options", "/questions/0/options/0", "/questions/0/options/0/key",
            "/questions/2/levels/1/label", "/questions/1/instructions", "/questions/2/type", "/$schema", "/$comment",
        ]),
        value in prop_oneof![
            Just(Value::Null), any::<bool>().prop_map(Value::from), any::<f64>().prop_map(Value::from),
            "[ a-z_]{0,8}".prop_map(Value::from), "\\PC{0,4}".prop_map(Value::from),
            Just(json!("choice")), Just(json!("yes_no")), Just(json!([])), Just(json!({})),
            Just(json!([{"label": "A"}, {"label": "B"}])), Just(json!({"key": "x", "label": "X"})),
        ],
    ) {
        let file = with(&full(), pointer, value);
        if is_read(&file) {
            prop_assert!(validator("prism").is_valid(&file), "{}", file);
        }
    }
}
