//! A written gold file is read as the same texts, and a read one is written as the same rows.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use refract_domain::key::{FieldKey, OutcomeKey, QuestionKey};
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{CallContext, FieldValues, Ref, Submission};
use refract_file_runs::{
    ExpectedOutcome, GoldFile, GoldFormat, GoldProblem, GoldText, InputSource, StoredInput,
};

const OUTCOMES: [(&str, &[&str]); 3] = [
    ("topic", &["billing", "other", "insufficient_information"]),
    ("angry", &["yes", "no"]),
    ("urgency", &["low", "high"]),
];

fn version() -> Arc<PrismVersion> {
    let json = r#"{ "fields": [{ "key": "subject", "label": "S" }, { "key": "text", "label": "T" }],
        "questions": [
            { "key": "topic", "type": "choice", "text": "?", "options": [
                { "key": "billing", "label": "Bills" }, { "key": "parts", "label": "=Parts" }] },
            { "key": "angry", "type": "yes_no", "text": "?" },
            { "key": "urgency", "type": "scale", "text": "?", "levels": [
                { "key": "low", "label": "Low" }, { "key": "high", "label": "High" }] }] }"#;
    Arc::new(serde_json::from_str(json).unwrap())
}

fn read(name: &str, bytes: &[u8]) -> Result<GoldFile, String> {
    let source = InputSource::Stored(StoredInput::of_bytes(name, bytes));
    GoldFile::read(source, &version()).map_err(|error| error.to_string())
}

/// Texts with whatever separates cells, rows and values, and looks like a formula.
fn any_text() -> impl Strategy<Value = String> {
    "([a-zäÀ\u{1f98a}'\"=+@{};,\t\r\n -]|\r\n){0,12}"
}

fn any_gold_text() -> impl Strategy<Value = GoldText> {
    let reference = option::of("[ =+a-z'\",]{0,5}[a-z]");
    let outcomes = (
        option::of(0..3_usize),
        option::of(0..2_usize),
        option::of(0..2_usize),
    );
    (any_text(), any_text(), any_text(), reference, outcomes).prop_map(
        |(subject, text, context, reference, (topic, angry, urgency))| {
            let key = |key: &str| FieldKey::parse(key).unwrap();
            let fields = FieldValues::new(vec![(key("subject"), subject), (key("text"), text)]);
            let chosen = [topic, angry, urgency].into_iter().zip(OUTCOMES);
            let expected = chosen.filter_map(|(place, (question, outcomes))| {
                Some(ExpectedOutcome {
                    question: QuestionKey::parse(question).unwrap(),
                    outcome: OutcomeKey::parse(outcomes[place?]).unwrap(),
                })
            });
            GoldText {
                submission: Submission::saved(fields, CallContext::saved(context)),
                reference: reference.map(|text| Ref::parse(&text).unwrap()),
                expected: expected.collect(),
            }
        },
    )
}

fn written(texts: &[GoldText]) -> (GoldFormat, Vec<u8>) {
    let mut bytes = Vec::new();
    let format = GoldFile::write(&version(), texts, &mut bytes).unwrap();
    (format, bytes)
}

fn texts(file: &GoldFile) -> Vec<GoldText> {
    assert_eq!((&file.problems, &file.unknown_columns), (&vec![], &vec![]));
    file.texts.iter().map(|(_, text)| text.clone()).collect()
}

proptest! {
    #[test]
    fn what_is_written_is_read_and_written_alike(gold in vec(any_gold_text(), 1..6)) {
        let (format, bytes) = written(&gold);
        let again = texts(&read("", &bytes).unwrap());
        prop_assert_eq!(&again, &gold);
        prop_assert_eq!(written(&again), (format, bytes));
    }
}

fn one(text: &str) -> GoldText {
    let subject = FieldKey::parse("subject").unwrap();
    let field = FieldKey::parse("text").unwrap();
    let fields = FieldValues::new(vec![(subject, String::new()), (field, text.to_owned())]);
    GoldText {
        submission: Submission::saved(fields, None),
        reference: None,
        expected: vec![ExpectedOutcome {
            question: QuestionKey::parse("topic").unwrap(),
            outcome: OutcomeKey::parse("parts").unwrap(),
        }],
    }
}

#[test]
fn a_file_is_csv_unless_a_spreadsheet_would_calculate_a_cell() {
    let (format, bytes) = written(&[one("Where, is it?")]);
    let expected = "subject,text,ref,context,expected_topic,expected_angry,expected_urgency\r\n\
        ,\"Where, is it?\",,,parts,,\r\n";
    assert_eq!(format, GoldFormat::Csv);
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    let (format, bytes) = written(&[one("=1+1")]);
    assert_eq!(format, GoldFormat::JsonLines);
    let expected = "{\"subject\":\"\",\"text\":\"=1+1\",\"expected_topic\":\"parts\"}\n";
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[test]
fn a_tsv_file_and_a_file_of_people_are_read_by_its_name() {
    let tsv = "text\tsubject\texpected_topic\nSay \"hi\tA\t=Parts\n";
    let read_texts = texts(&read("gold.tsv", tsv.as_bytes()).unwrap());
    let (_, value) = &read_texts[0].submission.fields()[1];
    assert_eq!(value, "Say \"hi");
    assert_eq!(read_texts[0].expected[0].outcome.as_str(), "parts");
}

#[test]
fn every_problem_has_its_line() {
    let long = "x".repeat(100_001);
    let csv = format!(
        "subject,text,expected_topic,expected_angry,expected_colour\n\
         a,\"two\nlines\",bills,yes,red\na,{long},billing,maybe,\na,b,,,\n"
    );
    let file = read("gold.csv", csv.as_bytes()).unwrap();
    let lines: Vec<_> = file.problems.iter().map(GoldProblem::line).collect();
    assert_eq!(lines, [2, 4, 4]);
    assert!(
        matches!(&file.problems[0], GoldProblem::NoOutcome { question, .. } if question.as_str() == "topic")
    );
    assert!(
        matches!(&file.problems[2], GoldProblem::Refused { reason, .. } if reason.starts_with("fields.text"))
    );
    assert_eq!(file.unknown_columns, ["expected_colour"]);
    let missing = read("gold.csv", b"text,expected_topic\na,billing\n").unwrap_err();
    assert!(
        missing.starts_with("it lacks the column subject"),
        "{missing}"
    );
    let missing = read("", b"{\"text\":\"a\"}\n{\"text\":\"b\"}\n").unwrap_err();
    assert!(
        missing.starts_with("it lacks the column subject"),
        "{missing}"
    );
}
