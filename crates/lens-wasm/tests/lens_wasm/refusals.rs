//! Inputs that do not fit together are refused, and the error has no value of theirs.

use refract_lens_wasm::StoredResults;
use serde_json::{Value, json};

use crate::sample::{Sample, sample};
use crate::{read, result_of, versions_of};

/// The refusal of a result after a change.
fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let sample = sample();
    let mut result = serde_json::from_str(&result_of(&sample)).unwrap();
    change(&mut result);
    let refused = StoredResults::read(&result.to_string(), &versions_of(&sample));
    refused.err().expect("refused").to_string()
}

#[test]
fn a_result_whose_answers_do_not_match_its_version_is_refused() {
    let happy = json!({"type": "yes_no", "probability": 0.5});
    let words = refusal(|result| result["answers"]["happy"] = happy.clone());
    assert!(
        words.starts_with("result 0: its answers do not match its version: the answer 'happy'"),
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
        ("id", json!("7"), "its id is not a UUID"),
        (
            "created_at",
            json!("yesterday"),
            "its created_at is not a moment",
        ),
        (
            "version",
            json!(9),
            "answered by version 9, which is not among the versions",
        ),
        ("version", json!(0), "answered by version 0"),
        (
            "error",
            json!("a secret"),
            "an ok result has answers and no error",
        ),
        ("status", json!("failed"), "a failed one has an error"),
        ("answers", Value::Null, "an ok result has answers"),
    ] {
        let refused = refusal(|result| result[key] = value);
        assert!(
            refused.starts_with("result 0: ") && refused.contains(words),
            "{refused}"
        );
    }
}

#[test]
fn an_error_shows_the_path_and_no_value() {
    for (pointer, words) in [
        ("/took_ms", "took_ms: Expected integer, received float"),
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
            "answers.urgency.today: Expected number, received array",
        ),
    ] {
        let secret = json!([{ "secret": "of a customer" }]);
        let refused = refusal(|result| *result.pointer_mut(pointer).unwrap() = secret);
        assert_eq!(refused, format!("result 0: {words}"));
    }
    let refused = refusal(|result| result["answers"]["angry"]["probability"] = json!(1.5));
    assert_eq!(
        refused,
        "result 0: answers.angry.probability: must be from 0 to 1"
    );
    let refused = refusal(|result| {
        result.as_object_mut().unwrap().remove("took_ms");
    });
    assert_eq!(refused, "result 0: took_ms: Required");
    let malformed = StoredResults::read("[{", &versions_of(&sample()));
    assert!(
        malformed
            .err()
            .unwrap()
            .to_string()
            .contains("line 1, column 2")
    );
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
            refused.contains("its created_at is not a moment"),
            "{wrong}: {refused}"
        );
    }
}

#[test]
fn versions_must_be_prism_files_by_number() {
    let refused = |versions: &str| {
        StoredResults::read("[]", versions)
            .err()
            .unwrap()
            .to_string()
    };
    assert!(refused("{}").starts_with("the versions are empty"));
    assert!(refused("[]").contains("an object of prism files by version number"));
    assert!(refused("{").starts_with("the versions: not valid JSON: line 1"));
    for key in ["one", "0", "-1", "2147483648"] {
        let words = refused(&format!(r#"{{"{key}": {{}}}}"#));
        assert_eq!(
            words,
            "the keys of the versions must be their numbers, from 1"
        );
    }
    assert_eq!(
        refused(r#"{"3": {"fields": [], "questions": []}}"#),
        "version 3: Invalid request: name: Required; fields: Array must contain at least 1 element(s); \
         questions: Array must contain at least 1 element(s)"
    );
}

#[test]
fn a_format_must_fit_and_a_lens_must_be_valid() {
    let sample: Sample = sample();
    let stored = read(&sample).unwrap();
    let refused = |format: &str, lens| stored.render(format, lens).unwrap_err().to_string();
    assert_eq!(
        refused("xml", None),
        "the format must be one of json, raw, csv, tsv and jsonl"
    );
    let lens = r#"{"columns": [{"question": "happy", "output": "label"}]}"#;
    assert_eq!(
        refused("csv", Some(lens)),
        "the lens: Invalid request: columns.0.question: the prism's latest version has no such question"
    );
    let two = [result_of(&sample), result_of(&sample)].join("\n");
    let two = StoredResults::read(&two, &versions_of(&sample)).unwrap();
    assert_eq!(
        two.render("json", None).unwrap_err().to_string(),
        "json shows one result, and there are 2: use csv, tsv or jsonl"
    );
}
