use serde_json::{Value, json};

use super::*;

const QUESTIONS: &str = r#"[
    {"key": "topic", "type": "choice", "text": "?", "options": [
        {"key": "a", "label": "A"}, {"key": "b", "label": "B"}]},
    {"key": "angry", "type": "yes_no", "text": "?"},
    {"key": "urgency", "type": "scale", "text": "?", "levels": [
        {"key": "low", "label": "Low"}, {"key": "high", "label": "High"}]}
]"#;

const ANSWERS: &str = r#"{
    "topic": {"type": "choice", "value": "b", "confidence": 0.8, "probabilities":
        {"a": 0.1, "b": 0.7, "other": 0.1, "insufficient_information": 0.1}},
    "angry": {"type": "yes_no", "probability": 0.25},
    "urgency": {"type": "scale", "level": "low", "probabilities": {"low": 0.9, "high": 0.1}}
}"#;

fn matched(answers: &str) -> Result<Answers, String> {
    let questions: Vec<Question> = serde_json::from_str(QUESTIONS).unwrap();
    let answers: Answers = serde_json::from_str(answers).unwrap();
    let matched = answers.matched_to(&questions);
    matched.map_err(|mismatch| mismatch.to_string())
}

fn changed(change: impl Fn(&mut Value)) -> String {
    let mut answers = serde_json::from_str(ANSWERS).unwrap();
    change(&mut answers);
    matched(&answers.to_string()).unwrap_err()
}

#[test]
fn answers_of_the_version_are_put_into_its_order() {
    let in_order: Answers = serde_json::from_str(ANSWERS).unwrap();
    assert_eq!(matched(ANSWERS).unwrap(), in_order);
    // serde_json's map sorts keys: `angry` comes first, and `high` before `low`
    let sorted = serde_json::from_str::<Value>(ANSWERS).unwrap().to_string();
    assert!(sorted.starts_with(r#"{"angry""#), "{sorted}");
    assert_eq!(matched(&sorted).unwrap(), in_order);
}

#[test]
fn whatever_does_not_match_is_refused_with_its_key() {
    let yes_no = json!({"type": "yes_no", "probability": 0.5});
    let missing = changed(|answers| {
        answers.as_object_mut().unwrap().remove("angry");
    });
    assert_eq!(missing, "question 'angry' has no answer");
    let unknown = changed(|answers| answers["happy"] = yes_no.clone());
    assert!(unknown.starts_with("the answer 'happy' is to no question"));
    let other_type = changed(|answers| answers["urgency"] = yes_no.clone());
    assert_eq!(
        other_type,
        "the answer 'urgency' is of another type than its question, scale"
    );
    let outcome = changed(|answers| {
        let probabilities = &mut answers["topic"]["probabilities"];
        probabilities.as_object_mut().unwrap().remove("other");
    });
    assert_eq!(outcome, "the answer 'topic' has no probability of 'other'");
    for (pointer, value) in [
        ("/topic/probabilities/c", json!(0.5)),
        ("/topic/value", json!("c")),
        ("/urgency/level", json!("c")),
        ("/urgency/probabilities/c", json!(0.5)),
    ] {
        let refused = changed(|answers| {
            let (object, key) = pointer.rsplit_once('/').unwrap();
            answers.pointer_mut(object).unwrap()[key] = value.clone();
        });
        assert!(
            refused.contains("has the outcome 'c'"),
            "{pointer}: {refused}"
        );
    }
}

#[test]
fn a_misspelt_key_is_named() {
    let misspelt = ANSWERS.replace(r#""angry""#, r#""angri""#);
    let words = "the answer 'angri' is to no question of the version";
    assert_eq!(matched(&misspelt).unwrap_err(), words);
    let misspelt = ANSWERS.replace(r#""high""#, r#""hihg""#);
    let words = "has the outcome 'hihg', which its question does not have";
    assert!(matched(&misspelt).unwrap_err().ends_with(words));
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    let twice = ANSWERS.replacen(
        '{',
        r#"{"angry": {"type": "yes_no", "probability": 1.0},"#,
        1,
    );
    assert_eq!(
        matched(&twice).unwrap_err(),
        "the answer 'angry' stands twice"
    );
    let twice = ANSWERS.replace(r#""low": 0.9"#, r#""low": 0.9, "low": 0.8"#);
    assert_eq!(
        matched(&twice).unwrap_err(),
        "the answer 'urgency' has two probabilities of 'low'"
    );
}
