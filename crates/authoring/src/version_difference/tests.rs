//! The reported differences and their severity, and that none is missing.

mod any_versions;

use serde_json::{Value, json};

use super::*;
use crate::lens_file;

fn file() -> Value {
    json!({
        "fields": [{ "key": "text", "label": "Message" }],
        "context": "We sell bicycles.",
        "questions": [
            { "key": "topic", "type": "choice", "text": "What about?", "instructions": "Judge.",
              "options": [
                { "key": "billing", "label": "Billing", "description": "charges" },
                { "key": "delivery", "label": "Delivery" }] },
            { "key": "angry", "type": "yes_no", "text": "Angry?" },
            { "key": "urgency", "type": "scale", "text": "Urgent?", "levels": [
                { "key": "low", "label": "Low" }, { "key": "high", "label": "High" }] },
        ],
    })
}

fn version(file: &Value) -> PrismVersion {
    serde_json::from_value(file.clone()).unwrap()
}

fn custom(columns: &Value) -> Lens {
    let file = json!({ "columns": columns }).to_string();
    Lens::Custom(lens_file::read(file.as_bytes(), &version(&self::file())).unwrap())
}

/// The differences as `severity path: text`, in order.
fn found(after: &Value, lens: &Lens) -> Vec<String> {
    let found = differences(&version(&file()), &version(after), lens);
    let line = |difference: &VersionDifference| {
        let VersionDifference {
            severity,
            path,
            text,
            wording: _,
        } = difference;
        format!("{severity:?} {path}: {text}")
    };
    found.iter().map(line).collect()
}

/// The differences of the file with another value at this place.
fn found_with(pointer: &str, value: Value) -> Vec<String> {
    let mut after = file();
    *after.pointer_mut(pointer).unwrap() = value;
    found(&after, &Lens::Automatic)
}

#[test]
fn callers_learn_which_fields_to_send() {
    let fields = json!([
        { "key": "subject", "label": "Subject" }, { "key": "text", "label": "Text" }]);
    assert_eq!(
        found_with("/fields", fields),
        [
            "ForCallers fields.subject: Callers must also send the field 'subject', and rows get a \
             column for it.",
            "Cosmetic fields.text.label: The field 'text' is labelled 'Text' instead of 'Message'.",
            "ForCallers fields: Callers can no longer send 'text' by itself: they must send \
             'fields'.",
        ]
    );
    let other = json!([{ "key": "body", "label": "Message" }]);
    let found = found_with("/fields", other);
    assert!(
        found.contains(
            &"ForCallers fields.text: Callers must no longer send the field 'text', and rows lose \
              its column."
                .to_owned()
        ),
        "{found:?}"
    );
}

#[test]
fn the_order_of_fields_is_the_order_of_their_columns() {
    let fields = |keys: [&str; 2]| {
        let field = |key: &str| json!({ "key": key, "label": "F" });
        let mut file = file();
        *file.pointer_mut("/fields").unwrap() = keys.map(field).into();
        version(&file)
    };
    let found = differences(&fields(["a", "b"]), &fields(["b", "a"]), &Lens::Automatic);
    let [found] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (found.severity, found.path.as_str()),
        (Severity::ForCallers, "fields")
    );
}

#[test]
fn other_words_for_the_model_may_change_answers_and_both_wordings_are_given() {
    for (pointer, value, path, before, after) in [
        (
            "/context",
            json!("We sell cars."),
            "context",
            Some("We sell bicycles."),
            Some("We sell cars."),
        ),
        (
            "/context",
            Value::Null,
            "context",
            Some("We sell bicycles."),
            None,
        ),
        (
            "/questions/1/text",
            json!("Is it angry?"),
            "questions.angry.text",
            Some("Angry?"),
            Some("Is it angry?"),
        ),
        (
            "/questions/0/instructions",
            Value::Null,
            "questions.topic.instructions",
            Some("Judge."),
            None,
        ),
        (
            "/questions/0/options/0/description",
            Value::Null,
            "questions.topic.options.billing.description",
            Some("charges"),
            None,
        ),
        (
            "/questions/0/options/1",
            json!({ "key": "delivery", "label": "Delivery", "description": "parcels" }),
            "questions.topic.options.delivery.description",
            None,
            Some("parcels"),
        ),
    ] {
        let mut changed = file();
        *changed.pointer_mut(pointer).unwrap() = value;
        let found = differences(&version(&file()), &version(&changed), &Lens::Automatic);
        let [found] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(
            (found.severity, found.path.as_str()),
            (Severity::ForAnswers, path)
        );
        let wording = ChangedWording {
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        assert_eq!(found.wording, Some(wording));
    }
}

#[test]
fn readers_learn_of_options_that_come_go_and_are_renamed() {
    let options = json!([
        { "key": "billing", "label": "Invoices", "description": "charges" },
        { "key": "parts", "label": "Parts" }]);
    assert_eq!(
        found_with("/questions/0/options", options),
        [
            "ForCallers questions.topic.options.billing.label: The option 'billing' of 'topic' \
             reads 'Invoices' instead of 'Billing', in cells of csv and tsv and for the model.",
            "ForCallers questions.topic.options.parts: The option 'Parts' of 'topic' is new: \
             readers must expect the value 'parts'.",
            "ForCallers questions.topic.options.delivery: The option 'Delivery' of 'topic' is gone: \
             no new answer has the value 'delivery'.",
        ]
    );
}

#[test]
fn the_order_of_levels_changes_their_numbers_and_that_of_options_only_what_is_read() {
    let options = json!([
        { "key": "delivery", "label": "Delivery" },
        { "key": "billing", "label": "Billing", "description": "charges" }]);
    assert_eq!(
        found_with("/questions/0/options", options),
        [
            "ForAnswers questions.topic.options: The options of 'topic' stand in another order, \
             which can move a model's answers."
        ]
    );
    let levels = json!([{ "key": "high", "label": "High" }, { "key": "low", "label": "Low" }]);
    assert_eq!(
        found_with("/questions/2/levels", levels),
        [
            "ForCallers questions.urgency.levels: The levels of 'urgency' stand in another order: \
             their numbers and averages mean something else."
        ]
    );
    let levels = json!([
        { "key": "low", "label": "Low" }, { "key": "mid", "label": "Mid" },
        { "key": "high", "label": "High" }]);
    assert_eq!(
        found_with("/questions/2/levels", levels),
        [
            "ForCallers questions.urgency.levels.mid: The level 'Mid' of 'urgency' is new: readers \
             must expect the value 'mid'.",
            "ForCallers questions.urgency.levels: The levels of 'urgency' have other numbers: \
             'High' is 3 instead of 2.",
        ]
    );
}

#[test]
fn the_automatic_lens_follows_the_questions() {
    let mut after = file();
    let questions = after["questions"].as_array_mut().unwrap();
    questions.remove(1);
    questions.insert(0, json!({ "key": "german", "type": "yes_no", "text": "?" }));
    questions.swap(1, 2);
    assert_eq!(
        found(&after, &Lens::Automatic),
        [
            "ForAnswers questions.german: The question 'german' is new: results of earlier versions \
             have no answer to it.",
            "ForCallers questions.angry: The question 'angry' is gone: new results have no answer \
             to it.",
            "ForAnswers questions: The questions stand in another order, in which the model reads \
             them.",
            "ForCallers lens.german: Rows and json answers get the column 'german'.",
            "ForCallers lens.angry: Rows and json answers lose the column 'angry'.",
            "ForCallers lens: The columns stand in another order, in rows and in json answers.",
        ]
    );
}

#[test]
fn a_custom_lens_loses_the_columns_of_a_question_and_gets_none() {
    let lens = custom(&json!([
        { "name": "mood", "question": "angry", "output": "label" },
        { "name": "mood_p", "question": "angry", "output": "probability" },
        { "question": "topic", "output": "top" }]));
    let mut after = file();
    after["questions"][1] = json!({ "key": "german", "type": "yes_no", "text": "?" });
    let found = found(&after, &lens);
    assert_eq!(
        found[2..],
        [
            "ForCallers lens.mood: Rows and json answers lose the column 'mood'.",
            "ForCallers lens.mood_p: Rows and json answers lose the column 'mood_p'.",
            "Cosmetic questions.german.lens: The custom lens has no column for the new question \
             'german': rows and json answers do not show it until one is added.",
        ]
    );
}

#[test]
fn a_custom_lens_without_a_column_left_becomes_automatic() {
    let lens = custom(&json!([{ "name": "topic", "question": "angry", "output": "label" }]));
    let mut after = file();
    after["questions"].as_array_mut().unwrap().remove(1);
    assert_eq!(
        found(&after, &lens)[1..],
        [
            "ForCallers lens: No column of the custom lens is left, so the lens becomes automatic.",
            "ForCallers lens.topic: The column 'topic' shows something else.",
            "ForCallers lens.urgency: Rows and json answers get the column 'urgency'.",
        ]
    );
}

#[test]
fn a_custom_lens_that_came_later_reports_nothing_about_columns_that_could_not_be_there() {
    let lens = custom(&json!([{ "question": "angry", "output": "label" }]));
    let mut before = file();
    before["questions"].as_array_mut().unwrap().remove(1);
    let found = differences(&version(&before), &version(&file()), &lens);
    let paths: Vec<_> = found.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(paths, ["questions.angry"]);
}
