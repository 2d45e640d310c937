//! Every rule of the lens file.

use serde_json::{Value, json};

use super::*;
use crate::prism_file::PrismFile;

fn latest() -> PrismVersion {
    let file = json!({
        "name": "T",
        "fields": [{ "key": "text", "label": "Text" }, { "key": "topic_all", "label": "X" }],
        "questions": [
            { "key": "topic", "type": "choice", "text": "?", "options": [{ "label": "A" }, { "label": "B" }] },
            { "key": "angry", "type": "yes_no", "text": "?" },
            { "key": "urgency", "type": "scale", "text": "?", "levels": [{ "label": "L" }, { "label": "H" }] },
        ],
    });
    PrismFile::read(&serde_json::to_vec(&file).unwrap(), None)
        .unwrap()
        .version
}

#[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
fn read_columns(columns: Value) -> Result<Vec<Column>, String> {
    let file = json!({ "columns": columns });
    read(&serde_json::to_vec(&file).unwrap(), &latest()).map_err(|problems| {
        problems
            .to_string()
            .strip_prefix("Invalid request: ")
            .unwrap()
            .to_owned()
    })
}

#[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
fn read_one(column: Value) -> Result<Column, String> {
    read_columns(json!([column])).map(|mut columns| columns.remove(0))
}

#[test]
fn a_missing_name_gets_the_default_one() {
    let cases = [
        ("topic", "top", "topic"),
        ("topic", "probability", "topic_probability"),
        ("angry", "label", "angry"),
        ("angry", "probability", "angry_probability"),
        ("urgency", "level", "urgency"),
        ("urgency", "number", "urgency_number"),
        ("urgency", "average", "urgency_average"),
        ("urgency", "probability", "urgency_probability"),
        ("urgency", "all", "urgency_all"),
    ];
    for (question, output, name) in cases {
        let column = read_one(json!({ "question": question, "output": output })).unwrap();
        assert_eq!(column.name.as_str(), name);
        assert_eq!(column.output.name(), output);
    }
}

#[test]
fn cutoffs_are_written_as_plain_decimals() {
    let column = read_one(json!({
        "question": "angry", "output": "label", "no_below": 0.000_000_1, "yes_from": 1.0
    }));
    let written = String::from_utf8(write(&[column.unwrap()])).unwrap();
    assert!(
        written.ends_with(r#""no_below":0.0000001,"yes_from":1}]}"#),
        "{written}"
    );
}

#[test]
fn an_output_is_of_its_question_type() {
    assert_eq!(
        read_one(json!({ "question": "angry", "output": "top" })),
        Err("columns.0.output: Expected 'label' | 'probability'".to_owned())
    );
    assert_eq!(
        read_one(json!({ "question": "urgency", "output": "top" })),
        Err(
            "columns.0.output: Expected 'level' | 'number' | 'average' | 'probability' | 'all'"
                .to_owned()
        )
    );
}

#[test]
fn a_question_that_the_latest_version_lacks_is_refused() {
    let lacking = "columns.0.question: the prism's latest version has no such question, but topic, angry, urgency"
        .to_owned();
    assert_eq!(
        read_one(json!({ "question": "gone", "output": "top" })),
        Err(lacking.clone())
    );
    assert_eq!(
        read_one(json!({ "question": "No key", "output": "top" })),
        Err(lacking)
    );
}

#[test]
fn names_are_unique_and_clash_with_nothing() {
    let top = json!({ "question": "topic", "output": "top" });
    assert_eq!(
        read_columns(json!([top, top])).unwrap_err(),
        "columns.1.name: the name 'topic' is used twice"
    );
    assert_eq!(
        read_one(json!({ "question": "topic", "output": "all" })).unwrap_err(),
        "columns.0.name: the name 'topic_all' is a field's key"
    );
    for row_name in refract_domain::key::ROW_NAMES {
        let column = json!({ "name": row_name, "question": "topic", "output": "top" });
        assert_eq!(
            read_one(column).unwrap_err(),
            "columns.0.name: is the name of a row column"
        );
    }
    let context = json!({ "name": "context", "question": "topic", "output": "top" });
    assert!(read_one(context).is_ok());
    let longest = "n".repeat(80);
    let named = |name: &str| json!({ "name": name, "question": "topic", "output": "top" });
    assert!(read_one(named(&longest)).is_ok());
    assert!(read_one(named(&format!("{longest}n"))).is_err());
    assert!(read_one(named("Name")).is_err());
}

#[test]
fn cutoffs_are_for_labels_and_within_their_ranges() {
    let label = |cutoffs: Value| {
        let mut column = json!({ "question": "angry", "output": "label" });
        column
            .as_object_mut()
            .unwrap()
            .extend(cutoffs.as_object().unwrap().clone());
        read_one(column)
    };
    for good in [
        json!({}),
        json!({ "no_below": 0.000_001 }),
        json!({ "no_below": 0.999_999 }),
        json!({ "yes_from": 1 }),
        json!({ "yes_from": 0.51 }),
        json!({ "no_below": 0.3, "yes_from": 0.4 }),
        json!({ "no_below": null, "yes_from": null }),
    ] {
        assert!(label(good.clone()).is_ok(), "{good}");
    }
    for (bad, words) in [
        (
            json!({ "no_below": 0 }),
            "no_below: Number must be greater than 0",
        ),
        (
            json!({ "no_below": 1 }),
            "no_below: Number must be less than 1",
        ),
        (
            json!({ "yes_from": 0.5 }),
            "yes_from: Number must be greater than 0.5",
        ),
        (
            json!({ "yes_from": 1.01 }),
            "yes_from: Number must be less than or equal to 1",
        ),
        (
            json!({ "no_below": 0.4, "yes_from": 0.4 }),
            "yes_from: must be greater than no_below",
        ),
        (
            json!({ "no_below": "0.4" }),
            "no_below: Expected number, received string",
        ),
    ] {
        assert_eq!(label(bad).unwrap_err(), format!("columns.0.{words}"));
    }
    assert_eq!(
        read_one(json!({ "question": "angry", "output": "probability", "yes_from": 0.6 }))
            .unwrap_err(),
        "columns.0.yes_from: is only for the output 'label'"
    );
    assert!(read_one(json!({ "question": "topic", "output": "top", "no_below": null })).is_ok());
}

#[test]
fn a_lens_has_1_to_300_columns_and_known_keys() {
    let columns = |count: usize| -> Value {
        let column = |n| json!({ "name": format!("c{n}"), "question": "topic", "output": "top" });
        (0..count).map(column).collect()
    };
    assert_eq!(read_columns(columns(300)).unwrap().len(), 300);
    assert_eq!(
        read_columns(columns(0)).unwrap_err(),
        "columns: Array must contain at least 1 element(s)"
    );
    assert_eq!(
        read_columns(columns(301)).unwrap_err(),
        "columns: Array must contain at most 300 element(s)"
    );
    assert_eq!(
        read_one(json!({ "question": "topic", "output": "top", "colour": 1 })).unwrap_err(),
        "columns.0: Unrecognized key(s) in object: 'colour'"
    );
    let words = read(br#"{"columns": [], "mode": "custom"}"#, &latest())
        .unwrap_err()
        .to_string();
    assert!(words.starts_with("Invalid request: file: Unrecognized key(s) in object: 'mode'"));
}

#[test]
fn a_lens_is_shown_in_the_form_of_its_file() {
    let columns = read_columns(json!([
        { "name": "is_angry", "question": "angry", "output": "label", "no_below": 0.4, "yes_from": 0.6 },
        { "question": "topic", "output": "top" },
    ]))
    .unwrap();
    let lens = Lens::Custom(columns);
    let shown = serde_json::to_string(&ShownLens::new(&lens, latest().columns(&lens))).unwrap();
    assert_eq!(
        shown,
        r#"{"mode":"custom","columns":[{"name":"is_angry","question":"angry","output":"label","no_below":0.4,"yes_from":0.6},{"name":"topic","question":"topic","output":"top"}]}"#
    );
    let latest = latest();
    let shown = serde_json::to_string(&ShownLens::new(
        &Lens::Automatic,
        latest.columns(&Lens::Automatic),
    ))
    .unwrap();
    assert_eq!(
        shown,
        r#"{"mode":"automatic","columns":[{"name":"topic","question":"topic","output":"top"},{"name":"angry","question":"angry","output":"label","no_below":0.5},{"name":"urgency","question":"urgency","output":"level"}]}"#
    );
}

#[test]
fn a_written_lens_file_reads_back() {
    let columns = read_columns(json!([
        { "name": "a", "question": "angry", "output": "label", "no_below": 0.1, "yes_from": 0.7 },
        { "name": "b", "question": "angry", "output": "label", "yes_from": 0.62 },
        { "question": "angry", "output": "label" , "no_below": 0.29 },
        { "question": "urgency", "output": "average" },
        { "question": "topic", "output": "top" },
    ]))
    .unwrap();
    assert_eq!(read(&write(&columns), &latest()).unwrap(), columns);
}

#[test]
fn every_output_of_a_question_has_a_default_name_of_its_own() {
    let latest = latest();
    for question in latest.questions() {
        let names = Output::names(question.question_type());
        let outputs = names.iter();
        let outputs = outputs.map(|name| Output::parse(question.question_type(), name).unwrap());
        let mut defaults: Vec<_> = outputs
            .map(|output| Column::default_name(&question.key, output).unwrap())
            .collect();
        assert_eq!(defaults[0].as_str(), question.key.as_str());
        defaults.sort();
        defaults.dedup();
        assert_eq!(defaults.len(), names.len());
    }
}

#[test]
fn a_saved_column_reads_back() {
    let columns = read_columns(json!([
        { "question": "angry", "output": "label", "no_below": 0.1, "yes_from": 0.300_000_000_000_000_04 },
        { "question": "urgency", "output": "probability" },
        { "question": "topic", "output": "probability" },
    ]))
    .unwrap();
    let saved = serde_json::to_string(&columns).unwrap();
    assert_eq!(
        serde_json::from_str::<Vec<Column>>(&saved).unwrap(),
        columns
    );
}

#[test]
fn a_lens_is_read_as_its_file_and_as_it_is_shown() {
    let latest = latest();
    let lens = |file: Value| {
        let read = read_lens(&serde_json::to_vec(&file).unwrap(), &latest);
        read.map_err(|problems| problems.to_string())
    };
    let automatic = latest.columns(&Lens::Automatic);
    let shown = serde_json::to_value(ShownLens::new(&Lens::Automatic, automatic)).unwrap();
    assert_eq!(lens(shown.clone()).unwrap(), Lens::Automatic);
    assert_eq!(lens(json!({"mode": "automatic"})).unwrap(), Lens::Automatic);
    let refused = lens(json!({"mode": "custom"})).unwrap_err();
    assert_eq!(refused, "Invalid request: columns: Required");
    // somebody edited what was shown
    let mut edited = shown;
    edited["columns"][1]["yes_from"] = json!(0.9);
    let refused = lens(edited.clone()).unwrap_err();
    assert!(
        refused.starts_with("Invalid request: mode: the columns are not those of the automatic"),
        "{refused}"
    );
    edited["mode"] = json!("custom");
    let Lens::Custom(columns) = lens(edited.clone()).unwrap() else {
        panic!("it is custom");
    };
    edited.as_object_mut().unwrap().remove("mode");
    assert_eq!(lens(edited.clone()).unwrap(), Lens::Custom(columns));
    edited["mode"] = json!("other");
    let refused = lens(edited).unwrap_err();
    assert!(refused.contains("mode: "), "{refused}");
}
