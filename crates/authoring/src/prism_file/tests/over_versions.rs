//! The rules that earlier versions impose on a new one.

use serde_json::json;

use super::*;
use crate::earlier_versions::KeyHistory;
use refract_domain::key::{ColumnName, QuestionKey};
use refract_domain::lens::{Column, Output};

fn earlier(files: &[Value], lens: Lens) -> EarlierVersions {
    let mut versions: Vec<PrismVersion> = Vec::new();
    for file in files {
        let earlier = versions
            .last()
            .map(|latest: &PrismVersion| EarlierVersions {
                latest: latest.clone(),
                keys: KeyHistory::of(&versions),
                lens: Lens::Automatic,
            });
        versions.push(read_after(file, earlier.as_ref()).unwrap().version);
    }
    let keys = KeyHistory::of(&versions);
    EarlierVersions {
        latest: versions.pop().unwrap(),
        keys,
        lens,
    }
}

#[test]
fn a_label_keeps_the_key_that_it_had_in_the_previous_version() {
    let first = with_questions(json!([choice(
        "q",
        json!([
            { "label": "Money", "key": "billing" }, { "label": "Delivery" }
        ])
    )]));
    let earlier = earlier(&[first], Lens::Automatic);
    let next = with_questions(json!([choice(
        "q",
        json!([
            { "label": "Billing" }, { "label": "Delivery", "key": "shipping" }, { "label": "Money" }
        ])
    )]));
    let version = read_after(&next, Some(&earlier)).unwrap().version;
    assert_eq!(keys(&version, 0), ["billing_2", "shipping", "billing"]);
}

#[test]
fn a_label_keeps_its_key_when_its_question_returns() {
    let first = with_questions(json!([choice(
        "q",
        json!([
            { "label": "Money", "key": "billing" }, { "label": "Delivery" }
        ])
    )]));
    let renamed = with_questions(json!([choice(
        "q",
        json!([
            { "label": "Money", "key": "invoices" }, { "label": "Delivery" }
        ])
    )]));
    let history = |files: &[Value]| earlier(files, Lens::Automatic);
    let back = with_questions(json!([choice(
        "q",
        json!([
            { "label": "Delivery" }, { "label": "Money" }
        ])
    )]));
    for (files, key) in [
        (vec![first.clone(), minimal()], "billing"),
        (vec![first, renamed, minimal()], "invoices"),
    ] {
        let version = read_after(&back, Some(&history(&files))).unwrap().version;
        assert_eq!(keys(&version, 0), ["delivery", key]);
    }
}

#[test]
fn a_key_keeps_its_type_over_all_versions() {
    let first = minimal();
    let without = with("/questions/0/key", json!("calm"));
    let earlier = earlier(&[first, without], Lens::Automatic);
    let back = with_questions(json!([scale("angry", labels(2))]));
    assert_eq!(
        read_after(&back, Some(&earlier)).unwrap_err(),
        "Invalid request: questions.0.type: was yes_no in an earlier version, and a key keeps its type"
    );
    assert!(read_after(&minimal(), Some(&earlier)).is_ok());
}

#[test]
fn a_question_key_never_becomes_a_field_nor_the_other_way_round() {
    let renamed = with("/fields/0/key", json!("body"));
    let earlier = earlier(&[minimal(), renamed], Lens::Automatic);
    let as_question = json!({
        "name": "T", "fields": [{ "key": "body", "label": "B" }],
        "questions": [{ "key": "text", "type": "yes_no", "text": "?" }],
    });
    assert_eq!(
        read_after(&as_question, Some(&earlier)).unwrap_err(),
        "Invalid request: questions.0.key: was a field's key in an earlier version, \
         so it cannot be a question's"
    );
    let as_field = json!({
        "name": "T", "fields": [{ "key": "angry", "label": "B" }],
        "questions": [{ "key": "other_one", "type": "yes_no", "text": "?" }],
    });
    assert_eq!(
        read_after(&as_field, Some(&earlier)).unwrap_err(),
        "Invalid request: fields.0.key: was a question's key in an earlier version, \
         so it cannot be a field's"
    );
}

#[test]
fn a_field_cannot_have_the_name_of_a_column_that_stays() {
    let column = Column {
        name: ColumnName::parse("is_angry").unwrap(),
        question: QuestionKey::parse("angry").unwrap(),
        output: Output::YesProbability,
    };
    let earlier = earlier(&[minimal()], Lens::Custom(vec![column]));
    let clash = with("/fields", json!([{ "key": "is_angry", "label": "A" }]));
    assert_eq!(
        read_after(&clash, Some(&earlier)).unwrap_err(),
        "Invalid request: fields.0.key: is the name of the lens column 'is_angry'"
    );
    // a save without the question drops the column, which frees the name
    let mut gone = clash;
    gone["questions"] = json!([{ "key": "calm", "type": "yes_no", "text": "?" }]);
    assert!(read_after(&gone, Some(&earlier)).is_ok());
}
