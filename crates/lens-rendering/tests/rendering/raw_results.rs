//! Results read back from the format raw: what does not belong to its version is refused, and the error
//! has no value of the result.

use std::sync::Arc;

use refract_domain::submission::SentFields;
use refract_lens_rendering::{Format, RawResult, RawResultError};
use serde_json::{Value, json};

use crate::sample::{Sample, sample};

pub(crate) fn read(sample: &Sample, json: &str) -> Result<RawResult, RawResultError> {
    let version = Arc::new(sample.version.clone());
    RawResult::read(json, |number| (number == sample.number).then_some(version))
}

/// The field values of a sample, as a caller sent them.
pub(crate) fn sent(sample: &Sample) -> SentFields {
    let values = sample.fields.as_slice().iter();
    SentFields::new(
        values
            .map(|(key, value)| (key.to_string(), value.clone()))
            .collect(),
    )
}

/// The refusal of the sample's raw body, with its field values beside it, after a change.
fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let sample = sample();
    let mut result: Value = serde_json::from_str(&sample.render(Format::Raw)).unwrap();
    result["fields"] = serde_json::to_value(&sample.fields).unwrap();
    change(&mut result);
    let refused = read(&sample, &result.to_string());
    refused.err().expect("refused").to_string()
}

#[test]
fn field_values_are_those_of_the_version() {
    let sample = sample();
    let raw = sample.render(Format::Raw);
    let with = |fields: Value| {
        let mut result: Value = serde_json::from_str(&raw).unwrap();
        result["fields"] = fields;
        read(&sample, &result.to_string()).map(|result| {
            let fields = result.view().fields.as_slice().to_vec();
            fields
                .into_iter()
                .map(|(_, value)| value)
                .collect::<Vec<_>>()
        })
    };
    let mut whole = serde_json::to_value(&sample.fields).unwrap();
    assert_eq!(
        with(whole.clone()).unwrap().len(),
        sample.fields.as_slice().len()
    );
    whole["subjekt"] = json!("misspelt");
    let refused = with(whole).unwrap_err().to_string();
    assert_eq!(refused, "fields: Unknown fields: subjekt");
    // the misspelt key is named, not the one that it stands for
    let refused = with(json!({"subjekt": "x"})).unwrap_err().to_string();
    assert_eq!(refused, "fields: Unknown fields: subjekt");
    let refused = with(json!({})).unwrap_err().to_string();
    assert!(refused.starts_with("fields: Missing fields: "), "{refused}");
    // the format has none
    let without = read(&sample, &raw).unwrap();
    assert_eq!(without.view().fields.as_slice(), []);
    assert!(read(&sample, "{").is_err_and(|error| error.to_string().starts_with("not valid JSON")));
}

#[test]
fn a_result_whose_answers_do_not_match_its_version_is_refused() {
    let happy = json!({"type": "yes_no", "probability": 0.5});
    let words = refusal(|result| result["answers"]["happy"] = happy.clone());
    assert!(
        words.starts_with("the answers do not match the version: the answer 'happy'"),
        "{words}"
    );
    let words = refusal(|result| {
        result["answers"].as_object_mut().unwrap().remove("angry");
    });
    assert!(words.ends_with("question 'angry' has no answer"), "{words}");
    let words = refusal(|result| result["answers"]["topic"] = happy);
    assert!(words.contains("'topic' is of another type"), "{words}");
    let words = refusal(|result| result["answers"]["urgency"]["level"] = json!("never"));
    assert!(words.contains("the outcome 'never'"), "{words}");
}

#[test]
fn a_result_that_refract_does_not_store_is_refused() {
    for (key, value, words) in [
        ("id", json!("7"), "id: not a UUID"),
        ("created_at", json!("yesterday"), "created_at: not a moment"),
        (
            "version",
            json!(9),
            "answered by version 9, which is not among the versions",
        ),
        (
            "version",
            json!(0),
            "version: a version number is from 1 to 2147483647",
        ),
        ("version", json!(-1), "version: a version number is from 1"),
        (
            "version",
            json!("1"),
            "version: Expected number, received string",
        ),
        (
            "version",
            json!(1.5),
            "version: Expected integer, received float",
        ),
        (
            "took_ms",
            json!(-1),
            "took_ms: must not be negative or so large",
        ),
        ("status", json!("fine"), "status: "),
        (
            "error",
            json!("a secret"),
            "an ok result has answers and no error",
        ),
        ("status", json!("failed"), "a failed one has an error"),
        ("answers", Value::Null, "an ok result has answers"),
    ] {
        let refused = refusal(|result| result[key] = value);
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn an_error_shows_the_path_and_no_value() {
    for (pointer, words) in [
        ("/took_ms", "took_ms: Expected number, received array"),
        ("/status", "status: Expected string, received array"),
        ("/answers", "answers: Expected object, received array"),
        ("/fields", "fields: Expected object, received array"),
        (
            "/fields/text",
            "fields.text: Expected string, received array",
        ),
        (
            "/answers/topic",
            "answers.topic: Expected object, received array",
        ),
        (
            "/answers/topic/value",
            "answers.topic.value: Expected string, received array",
        ),
        (
            "/answers/angry/probability",
            "answers.angry.probability: Expected number, received array",
        ),
        (
            "/answers/urgency/probabilities/today",
            "answers.urgency.probabilities.today: Expected number, received array",
        ),
    ] {
        let secret = json!([{ "secret": "of a customer" }]);
        let refused = refusal(|result| *result.pointer_mut(pointer).unwrap() = secret);
        assert_eq!(refused, words);
    }
    let refused = refusal(|result| result["answers"]["angry"]["probability"] = json!(1.5));
    assert_eq!(refused, "answers.angry.probability: must be from 0 to 1");
    let refused = refusal(|result| {
        result.as_object_mut().unwrap().remove("took_ms");
    });
    assert_eq!(refused, "took_ms: Required");
}

#[test]
fn a_moment_is_as_the_api_writes_it() {
    for wrong in [
        "2026-05-04",
        "2026-05-04T09:08:07Z",
        "2026-13-04T09:08:07.060Z",
        "2026-05-04T09:08:07.06Z",
        "2026-05-04T09:08:07.060",
    ] {
        let refused = refusal(|result| result["created_at"] = json!(wrong));
        assert!(
            refused.contains("created_at: not a moment"),
            "{wrong}: {refused}"
        );
    }
}
