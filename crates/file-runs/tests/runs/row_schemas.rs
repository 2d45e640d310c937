//! What the schemas of rows accept, the readers of gold files and of marks accept.

use std::sync::Arc;

use jsonschema::Validator;
use proptest::prelude::*;
use proptest::sample::select;
use refract_domain::prism::PrismVersion;
use refract_file_runs::{GoldFile, InputSource, MarksFile, StoredInput, row_schema};
use serde_json::{Map, Value, json};

/// A prism in which a question's column of marks is another question.
fn version() -> Arc<PrismVersion> {
    let json = r#"{ "fields": [{ "key": "text", "label": "T" }],
        "questions": [
            { "key": "topic", "type": "choice", "text": "?", "options": [
                { "key": "billing", "label": "Bills" }, { "key": "parts", "label": "billing" }] },
            { "key": "topic_marked", "type": "yes_no", "text": "?" },
            { "key": "urgency", "type": "scale", "text": "?", "levels": [
                { "key": "low", "label": "Low" }, { "key": "high", "label": "High" }] }] }"#;
    Arc::new(serde_json::from_str(json).unwrap())
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap()
}

fn source(row: &Value) -> InputSource<'static> {
    InputSource::Stored(StoredInput::of_bytes(
        "rows.jsonl",
        row.to_string().into_bytes(),
    ))
}

/// Whether the reader takes the row as a text with its correct answers.
fn is_gold(row: &Value) -> bool {
    let read = GoldFile::read(source(row), &version());
    read.is_ok_and(|file| file.problems.is_empty() && file.unknown_columns.is_empty())
}

/// Whether the reader takes the row as marks, or as none.
fn is_marks(row: &Value) -> bool {
    let questions = version();
    let questions = questions.questions().iter();
    let questions: Vec<_> = questions.map(|question| question.key.clone()).collect();
    let Ok(read) = MarksFile::open(source(row), &questions).unwrap().read() else {
        return false;
    };
    // the reader leaves the names of outcomes to the version that answered
    let named = read.rows.iter().flat_map(|row| &row.cells).all(|cell| {
        let version = version();
        let mut questions = version.questions().iter();
        let question = questions.find(|question| question.key == cell.question);
        let question = question.unwrap();
        refract_domain::result::mark::outcome_named(question, &cell.outcome).is_some()
    });
    named && read.errors.listed().next().is_none()
}

const ID: &str = "0190B8f2-0000-7000-8000-0000000000aa";

/// What a cell may have.
const CELLS: [&str; 14] = [
    "", "billing", "Bills", "parts", "Other", "yes", "No", "TRUE", "0", "Low", "high", ID, "r-1",
    "unsure",
];

fn any_cell() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => select(&CELLS[..]).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!(7)),
        1 => select(vec![json!(true), json!(0), json!(1.0)]),
        1 => Just(json!(["x"])),
    ]
}

/// What a column may be called.
const COLUMNS: [&str; 13] = [
    "text",
    "ref",
    "context",
    "result_id",
    "topic",
    "topic_marked",
    "topic_marked_marked",
    "urgency_marked",
    "urgency",
    "expected_topic",
    "expected_urgency",
    "expected_colour",
    "note",
];

fn any_row() -> impl Strategy<Value = Value> {
    let cells = prop::collection::vec((select(&COLUMNS[..]), any_cell()), 1..6);
    cells.prop_map(|cells| {
        let cells = cells.into_iter();
        let row: Map<_, _> = cells.map(|(name, cell)| (name.to_owned(), cell)).collect();
        Value::Object(row)
    })
}

proptest! {
    #[test]
    fn an_accepted_row_is_read(row in any_row()) {
        if validator(&row_schema::gold_row(&version())).is_valid(&row) {
            prop_assert!(is_gold(&row), "{row}");
        }
        // a file without any column of a question is refused as a whole
        let has_mark = ["topic", "topic_marked", "urgency"]
            .iter()
            .any(|key| row.get(key).is_some());
        if has_mark && validator(&row_schema::marks_row(&version())).is_valid(&row) {
            prop_assert!(is_marks(&row), "{row}");
        }
    }
}

#[test]
fn both_accept_and_both_refuse_a_gold_row() {
    let gold = validator(&row_schema::gold_row(&version()));
    for (row, is_good) in [
        (json!({"text": "a", "expected_topic": "Bills"}), true),
        (
            json!({"text": "a", "ref": "r", "context": "c", "expected_topic_marked": "yes"}),
            true,
        ),
        (
            json!({"text": "", "ref": null, "context": "", "expected_urgency": "", "note": 1}),
            true,
        ),
        (json!({"text": "a", "expected_topic_marked": true}), true),
        (json!({"text": "a", "expected_topic_marked": "False"}), true),
        (json!({"text": "a", "expected_topic_marked": 2}), false),
        (json!({"text": "a", "expected_topic": true}), false),
        (json!({"expected_topic": "billing"}), false),
        (json!({"text": 5}), false),
        (json!({"text": null}), false),
        (json!({"text": "a", "expected_topic": "bills"}), false),
        (
            json!({"text": "a", "expected_topic_marked": "unsure"}),
            false,
        ),
        (json!({"text": "a", "expected_colour": "red"}), false),
        (json!({"text": "x".repeat(100_001)}), false),
        (json!({"text": "a", "ref": "r".repeat(201)}), false),
        (json!({"text": "a", "context": ["c"]}), false),
    ] {
        assert_eq!(gold.is_valid(&row), is_good, "the schema, {row}");
        assert_eq!(is_gold(&row), is_good, "the reader, {row}");
    }
}

#[test]
fn both_accept_and_both_refuse_a_row_of_marks() {
    let marks = validator(&row_schema::marks_row(&version()));
    for (row, is_good) in [
        (json!({"result_id": ID, "topic": "billing"}), true),
        (
            json!({"ref": "r", "topic": null, "topic_marked": "no"}),
            true,
        ),
        (
            json!({"result_id": null, "ref": "r", "urgency_marked": "High", "urgency": 5}),
            false,
        ),
        (
            json!({"result_id": "", "ref": "r", "expected_urgency": "low", "text": 5}),
            true,
        ),
        (json!({"ref": "r", "topic_marked": false}), true),
        (json!({"ref": "r", "topic_marked": 1}), true),
        (json!({"result_id": "7", "topic": "billing"}), false),
        (json!({"topic": "billing"}), false),
        (json!({"ref": "", "topic": "billing"}), false),
        (json!({"ref": "r", "topic_marked": "parts"}), false),
        (json!({"ref": "r", "topic": true}), false),
        (
            json!({"ref": "r", "topic": "billing", "expected_colour": "red"}),
            false,
        ),
        (json!({"ref": "r".repeat(201), "topic": "billing"}), false),
    ] {
        assert_eq!(marks.is_valid(&row), is_good, "the schema, {row}");
        if row.get("urgency_marked").is_none() {
            assert_eq!(is_marks(&row), is_good, "the reader, {row}");
        }
    }
}
