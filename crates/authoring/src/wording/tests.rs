//! Wordings that warn and wordings that must not.

use serde_json::{Value, json};

use super::*;
use crate::prism_file::PrismFile;

mod any_prism;
mod labels;
mod questions;
mod scales;

fn version(questions: &Value) -> PrismVersion {
    let file = json!({
        "name": "Triage",
        "fields": [{ "key": "text", "label": "Message" }],
        "questions": questions,
    });
    let file = serde_json::to_vec(&file).unwrap();
    PrismFile::read(&file, None).unwrap().version
}

/// The rules that warn about a question, with the rest of their paths.
fn warned(question: &Value) -> Vec<(&'static str, String)> {
    let warnings = lint(&version(&json!([question])));
    let seen = warnings.into_iter().map(|warning| {
        assert!(!warning.message.ends_with('.'), "{}", warning.message);
        let path = warning.path.strip_prefix("questions.0.").unwrap();
        (warning.rule.name(), path.to_owned())
    });
    seen.collect()
}

/// Outcomes from labels, or from labels and descriptions joined with `: `.
fn outcomes(labels: &[&str]) -> Value {
    let outcomes = labels.iter().map(|label| match label.split_once(": ") {
        Some((label, description)) => json!({ "label": label, "description": description }),
        None => json!({ "label": label }),
    });
    outcomes.collect()
}

fn choice(labels: &[&str]) -> Vec<(&'static str, String)> {
    warned(&json!({
        "key": "q", "type": "choice", "text": "Which?", "options": outcomes(labels),
    }))
}

fn scale(text: &str, labels: &[&str]) -> Vec<(&'static str, String)> {
    warned(&json!({
        "key": "q", "type": "scale", "text": text, "levels": outcomes(labels),
    }))
}

fn yes_no(text: &str) -> Vec<(&'static str, String)> {
    warned(&json!({ "key": "q", "type": "yes_no", "text": text }))
}

#[test]
fn the_example_prism_has_no_warnings() {
    let example = include_bytes!("../../../../docs/examples/support-triage.json");
    let version = PrismFile::read(example, None).unwrap().version;
    assert_eq!(lint(&version), []);
}

#[test]
fn warnings_come_question_by_question_and_say_what_was_found() {
    let questions = json!([
        { "key": "a", "type": "yes_no", "text": "Isn't it late?" },
        {
            "key": "b", "type": "choice", "text": "What is it about and how urgent is it?",
            "options": [{ "label": "Refund" }, { "label": "Refunds" }, { "label": "Misc" }],
        },
    ]);
    let found: Vec<_> = lint(&version(&questions))
        .into_iter()
        .map(|warning| {
            format!(
                "{} {}: {}",
                warning.path,
                warning.rule.name(),
                warning.message
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "questions.0.text negated-question: the question is a negation, with 'isn't'",
            "questions.1.text two-questions: 'and how' joins two things that are asked for",
            "questions.1.options.2 overlapping-labels: 'Misc' says what the built-in outcome \
             `other` says, which every choice has",
            "questions.1.options.1 similar-labels: 'Refund' and 'Refunds' are nearly the same \
             words, and not both have a description",
        ]
    );
}

#[test]
fn every_rule_has_a_name_of_its_own_and_a_reason() {
    for rule in WordingRule::ALL {
        assert_eq!(WordingRule::parse(rule.name()), Some(rule));
        assert!(rule.reason().ends_with('.'), "{}", rule.name());
        assert!(!rule.reason().contains("  "), "{}", rule.name());
    }
    assert_eq!(WordingRule::parse("similar_labels"), None);
}

#[test]
fn some_questions_are_looked_at_by_their_places_in_the_whole_prism() {
    let negated =
        |key: &str| json!({ "key": key, "type": "yes_no", "text": "Is the writer not satisfied?" });
    let file = json!({
        "name": "Triage",
        "fields": [{ "key": "text", "label": "Text" }],
        "questions": [negated("a"), negated("b"), negated("c")],
    });
    let file = PrismFile::read(file.to_string().as_bytes(), None).unwrap();
    let all = lint(&file.version);
    let paths: Vec<_> = all.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(
        paths,
        ["questions.0.text", "questions.1.text", "questions.2.text"]
    );
    let some = lint_questions(&file.version, |place| place != 1);
    assert_eq!(some, [all[0].clone(), all[2].clone()]);
}
