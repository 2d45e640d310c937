use refract_domain::ids::ResultId;
use refract_domain::key::ColumnName;
use refract_domain::prism::{QuestionType, VersionNumber};
use refract_domain::result::{ResultStatus, ResultView};
use refract_domain::submission::FieldValues;
use serde_json::{Value as Json, json};

use super::*;

mod moved_cutoffs;

/// A prism version with results. Its question keys are in alphabetical order, because `json!` sorts
/// the keys of the answers.
pub(crate) struct Sample {
    version: PrismVersion,
    fields: FieldValues,
}

impl Sample {
    pub(crate) fn new() -> Self {
        let version = json!({
            "fields": [{"key": "text", "label": "Message"}],
            "questions": [
                {"key": "angry", "type": "yes_no", "text": "Is it?"},
                {"key": "topic", "type": "choice", "text": "What?", "options": [
                    {"key": "billing", "label": "Billing"}, {"key": "delivery", "label": "Delivery"}]},
                {"key": "urgency", "type": "scale", "text": "How?", "levels": [
                    {"key": "low", "label": "Low"}, {"key": "urgent", "label": "Urgent"}]},
            ],
        });
        Self {
            version: serde_json::from_value(version).unwrap(),
            fields: serde_json::from_value(json!({"text": "Hello"})).unwrap(),
        }
    }

    /// Answers in which each named outcome has 0.75, and the first of the others the rest.
    pub(crate) fn answers(topic: &str, angry: f64, level: &str) -> ResultStatus {
        let topics = ["billing", "delivery", "other", "insufficient_information"];
        let answers = json!({
            "topic": {"type": "choice", "value": topic, "probabilities": shares(&topics, topic), "confidence": 0.5},
            "angry": {"type": "yes_no", "probability": angry},
            "urgency": {"type": "scale", "level": level, "probabilities": shares(&["low", "urgent"], level)},
        });
        ResultStatus::Ok(serde_json::from_value(answers).unwrap())
    }

    pub(crate) fn view<'a>(&'a self, status: &'a ResultStatus) -> ResultView<'a> {
        ResultView {
            id: ResultId::parse("0190b8f2-0000-7000-8000-0000000000aa").unwrap(),
            reference: None,
            prism: "sample",
            version: VersionNumber::FIRST,
            questions: self.version.questions(),
            status,
            took_ms: 1,
            created_at: chrono::DateTime::UNIX_EPOCH,
            fields: &self.fields,
        }
    }
}

fn shares(keys: &[&str], chosen: &str) -> Json {
    let rest = keys.iter().position(|key| *key != chosen);
    let share = |(at, key): (usize, &&str)| match Some(at) {
        _ if *key == chosen => ((*key).to_owned(), json!(0.75)),
        at if at == rest => ((*key).to_owned(), json!(0.25)),
        _ => ((*key).to_owned(), json!(0)),
    };
    Json::Object(keys.iter().enumerate().map(share).collect())
}

/// A column that is named after its question.
pub(crate) fn column(question: &str, output: &str) -> Column {
    let column = json!({"name": question, "question": question, "output": output});
    lens(&json!([column])).remove(0)
}

/// Columns as in a lens file: the name is optional, and the type is the question's.
fn lens(columns: &Json) -> Vec<Column> {
    let read = |column: &Json| {
        let mut stored = column.clone();
        stored["type"] = json!(match column["question"].as_str().unwrap() {
            "topic" => QuestionType::Choice,
            "angry" | "german" => QuestionType::YesNo,
            _ => QuestionType::Scale,
        });
        if column.get("name").is_none() {
            stored["name"] = column["question"].clone();
            let unnamed: Column = serde_json::from_value(stored.clone()).unwrap();
            stored["name"] =
                json!(Column::default_name(&unnamed.question, unnamed.output).unwrap());
        }
        serde_json::from_value(stored).unwrap()
    };
    columns.as_array().unwrap().iter().map(read).collect()
}

fn preview(sample: &Sample, before: &Json, after: &Json) -> LensPreview {
    let (before, after) = (lens(before), lens(after));
    let mut preview = LensPreview::new(&before, &after, &sample.version);
    for (topic, angry, level) in [
        ("billing", 0.2, "low"),
        ("delivery", 0.45, "low"),
        ("billing", 0.55, "urgent"),
        ("other", 0.9, "urgent"),
    ] {
        let answers = Sample::answers(topic, angry, level);
        preview.add(sample.view(&answers).answers());
    }
    preview
}

fn counts(tally: &ColumnTally) -> Vec<(&str, u64)> {
    let counted = tally.values.iter().filter(|value| value.cells() > 0);
    counted
        .map(|value| (value.label.as_str(), value.cells()))
        .collect()
}

#[test]
fn a_moved_cutoff_changes_the_cells_between() {
    let sample = Sample::new();
    let label = |no_below, yes_from: Option<f64>| json!([{"question": "angry", "output": "label", "no_below": no_below, "yes_from": yes_from}]);
    let preview = preview(&sample, &label(0.5, None), &label(0.4, Some(0.6)));
    assert_eq!(
        (preview.results, preview.cells(), preview.changed()),
        (4, 4, 2)
    );
    let column = &preview.columns[0];
    assert_eq!(
        counts(&column.after),
        [("Yes", 1), ("Unsure", 2), ("No", 1)]
    );
    let before = column.before.as_ref().unwrap();
    assert_eq!(counts(before), [("Yes", 2), ("No", 2)]);
}

#[test]
fn new_dropped_and_exchanged_columns_are_distinguished() {
    let sample = Sample::new();
    let before = json!([
        {"question": "topic", "output": "top"},
        {"name": "mood", "question": "angry", "output": "label"},
        {"question": "urgency", "output": "level"},
    ]);
    let after = json!([
        {"name": "mood", "question": "angry", "output": "probability"},
        {"question": "topic", "output": "top"},
        {"question": "topic", "output": "all"},
        {"question": "urgency", "output": "average"},
    ]);
    let preview = preview(&sample, &before, &after);
    let changed: Vec<_> = preview
        .columns
        .iter()
        .map(|column| column.changed)
        .collect();
    // another output under the old name changes every cell, another position none
    assert_eq!(changed, [Some(4), Some(0), None, None]);
    assert_eq!((preview.cells(), preview.changed()), (8, 4));
    assert!(preview.columns[0].before.is_none());
    let dropped: Vec<_> = preview
        .dropped
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(dropped, ["urgency"]);
    let tallies: Vec<_> = preview
        .columns
        .iter()
        .map(|column| counts(&column.after))
        .collect();
    assert_eq!(
        tallies[0],
        [
            ("0.2 to 0.3", 1),
            ("0.4 to 0.5", 1),
            ("0.5 to 0.6", 1),
            ("0.9 to 1", 1)
        ]
    );
    assert_eq!(tallies[1], [("Billing", 2), ("Delivery", 1), ("Other", 1)]);
    // 0.75 + 0.25 + 0.75 + 0.25, and so on
    assert_eq!(tallies[2], [("Billing", 2), ("Delivery", 1), ("Other", 1)]);
    assert_eq!(tallies[3], [("1", 2), ("2", 2)]);
}

#[test]
fn what_only_older_versions_know_is_counted_last_and_what_they_lack_is_empty() {
    let sample = Sample::new();
    let latest: PrismVersion = serde_json::from_value(json!({
        "fields": [{"key": "text", "label": "Message"}],
        "questions": [
            {"key": "topic", "type": "choice", "text": "What?", "options": [
                {"key": "delivery", "label": "Delivery"}, {"key": "parts", "label": "Parts"}]},
            {"key": "german", "type": "yes_no", "text": "Is it?"},
        ],
    }))
    .unwrap();
    let columns = lens(&json!([
        {"question": "topic", "output": "top"}, {"question": "german", "output": "label"}]));
    let mut preview = LensPreview::new(&columns, &columns, &latest);
    let answers = Sample::answers("billing", 0.5, "low");
    preview.add(sample.view(&answers).answers());
    let [topic, german] = &preview.columns[..] else {
        panic!("two columns");
    };
    assert_eq!(counts(&topic.after), [("Billing", 1)]);
    assert_eq!(topic.after.values.last().unwrap().key, "billing");
    assert_eq!((german.after.empty, german.changed), (1, Some(0)));
    assert_eq!(preview.changed(), 0);
}
