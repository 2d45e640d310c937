//! Outputs, cutoffs and the automatic lens.

use serde_json::json;

use super::*;
use crate::answer::{Answer, Probability};
use crate::key::{ColumnName, FieldKey, OutcomeKey, QuestionKey};
use crate::lens::cutoffs::Cutoffs;
use crate::prism::PrismVersion;

fn version() -> PrismVersion {
    let stored = json!({
        "fields": [{ "key": "text", "label": "Text" }],
        "questions": [
            { "key": "topic", "type": "choice", "text": "?", "options": [
                { "key": "a_a", "label": "A a" }, { "key": "b_b", "label": "B b" }] },
            { "key": "angry", "type": "yes_no", "text": "?" },
            { "key": "urgency", "type": "scale", "text": "?",
              "levels": [{ "key": "low", "label": "Low" }, { "key": "mid", "label": "Mid" },
                         { "key": "high", "label": "High" }] },
        ],
    });
    serde_json::from_value(stored).unwrap()
}

fn key(text: &str) -> OutcomeKey {
    OutcomeKey::parse(text).unwrap()
}

fn p(value: f64) -> Probability {
    Probability::from_f64(value).unwrap()
}

fn topic(value: Option<&str>) -> Answer {
    let probabilities = [
        ("a_a", 0.7),
        ("b_b", 0.2),
        ("other", 0.06),
        ("insufficient_information", 0.04),
    ];
    Answer::Choice {
        value: value.map(key),
        probabilities: probabilities.map(|(k, value)| (key(k), p(value))).to_vec(),
        confidence: p(0.6),
    }
}

fn urgency(low: f64, mid: f64, high: f64) -> Answer {
    Answer::scale(
        [("low", low), ("mid", mid), ("high", high)]
            .map(|(k, v)| (key(k), p(v)))
            .to_vec(),
    )
    .unwrap()
}

fn shown(question: &str, output: Output, answer: &Answer) -> String {
    let version = version();
    let question = QuestionKey::parse(question).unwrap();
    let column = Column {
        name: ColumnName::parse("c").unwrap(),
        question: question.clone(),
        output,
    };
    match column.value(version.question(&question), Some(answer)) {
        Value::Null => "null".to_owned(),
        Value::Outcome { key, label } => format!("{key}/{label}"),
        Value::YesNo(label) => format!("{}/{}", label.key(), label.label()),
        Value::Probability(probability) => probability.to_string(),
        Value::Position(position) => position.to_string(),
        Value::Average(average) => average.to_string(),
        Value::All { probabilities, .. } => format!("{} outcomes", probabilities.len()),
    }
}

#[test]
fn a_choice_shows_its_outcome_its_probability_or_all() {
    let billing = topic(Some("a_a"));
    assert_eq!(shown("topic", Output::Top, &billing), "a_a/A a");
    assert_eq!(shown("topic", Output::TopProbability, &billing), "0.7");
    assert_eq!(shown("topic", Output::AllOptions, &billing), "4 outcomes");
    let other = topic(Some("other"));
    assert_eq!(shown("topic", Output::Top, &other), "other/Other");
    let insufficient = topic(Some("insufficient_information"));
    assert_eq!(
        shown("topic", Output::Top, &insufficient),
        "insufficient_information/Not enough information"
    );
}

#[test]
fn a_choice_of_an_option_that_the_prism_lacks_has_no_top_but_its_probabilities() {
    let none = topic(None);
    assert_eq!(shown("topic", Output::Top, &none), "null");
    assert_eq!(shown("topic", Output::TopProbability, &none), "null");
    assert_eq!(shown("topic", Output::AllOptions, &none), "4 outcomes");
}

#[test]
fn a_scale_shows_level_number_average_probability_or_all() {
    let answer = urgency(0.2, 0.5, 0.3);
    assert_eq!(shown("urgency", Output::Level, &answer), "mid/Mid");
    assert_eq!(shown("urgency", Output::Number, &answer), "2");
    assert_eq!(shown("urgency", Output::Average, &answer), "2.1");
    assert_eq!(shown("urgency", Output::LevelProbability, &answer), "0.5");
    assert_eq!(shown("urgency", Output::AllLevels, &answer), "3 outcomes");
}

#[test]
fn on_a_tie_the_lower_level_wins() {
    assert_eq!(
        shown("urgency", Output::Level, &urgency(0.4, 0.2, 0.4)),
        "low/Low"
    );
    assert_eq!(
        shown("urgency", Output::Level, &urgency(0.2, 0.4, 0.4)),
        "mid/Mid"
    );
}

#[test]
fn an_average_is_rounded_half_away_from_zero_on_the_decimal_value() {
    // 1 * 0.995 + 2 * 0.005 = 1.005, which binary fractions round down
    assert_eq!(
        shown("urgency", Output::Average, &urgency(0.995, 0.005, 0.0)),
        "1.01"
    );
    assert_eq!(
        shown(
            "urgency",
            Output::Average,
            &urgency(0.995_001, 0.004_999, 0.0)
        ),
        "1"
    );
    assert_eq!(
        shown("urgency", Output::Average, &urgency(0.0, 0.0, 1.0)),
        "3"
    );
    assert_eq!(
        shown("urgency", Output::Average, &urgency(0.5, 0.5, 0.0)),
        "1.5"
    );
}

#[test]
fn an_answer_of_another_type_or_none_shows_nothing() {
    let yes = Answer::YesNo {
        probability: p(0.9),
    };
    for output in [
        Output::Top,
        Output::TopProbability,
        Output::AllOptions,
        Output::Level,
        Output::AllLevels,
    ] {
        assert_eq!(shown("angry", output, &yes), "null");
    }
    assert_eq!(
        shown("topic", Output::LevelProbability, &topic(Some("a_a"))),
        "null"
    );
    assert_eq!(shown("gone", Output::Top, &topic(Some("a_a"))), "null");
}

#[test]
fn the_automatic_lens_has_one_column_per_question() {
    let version = version();
    let columns = version.columns(&Lens::Automatic);
    let names: Vec<_> = columns
        .iter()
        .map(|c| (c.name.as_str(), c.output.name()))
        .collect();
    assert_eq!(
        names,
        [("topic", "top"), ("angry", "label"), ("urgency", "level")]
    );
    assert_eq!(columns[1].output, Output::Label(Cutoffs::AUTOMATIC));
}

#[test]
fn a_new_question_adds_a_column_to_the_automatic_lens_and_none_to_a_custom_one() {
    let before = version();
    let mut file = serde_json::to_value(&before).unwrap();
    let question = json!({ "key": "added", "type": "yes_no", "text": "?" });
    file["questions"].as_array_mut().unwrap().push(question);
    let after: PrismVersion = serde_json::from_value(file).unwrap();
    let names = |lens: &Lens| -> Vec<String> {
        after
            .columns(lens)
            .iter()
            .map(|column| column.name.to_string())
            .collect()
    };
    assert_eq!(
        names(&Lens::Automatic),
        ["topic", "angry", "urgency", "added"]
    );
    let frozen =
        Lens::Custom(before.columns(&Lens::Automatic).to_vec()).after_save(after.questions());
    assert_eq!(names(&frozen), ["topic", "angry", "urgency"]);
}

#[test]
fn a_save_drops_columns_of_removed_questions_and_the_last_one_brings_the_automatic_lens_back() {
    let version = version();
    let column = |name: &str, question: &str| Column {
        name: ColumnName::parse(name).unwrap(),
        question: QuestionKey::parse(question).unwrap(),
        output: Output::Top,
    };
    let kept = column("kept", "topic");
    let lens = Lens::Custom(vec![column("lost", "gone"), kept.clone()]);
    assert_eq!(
        lens.after_save(version.questions()),
        Lens::Custom(vec![kept])
    );
    assert_eq!(
        Lens::Custom(vec![column("lost", "gone")]).after_save(version.questions()),
        Lens::Automatic
    );
    assert_eq!(
        Lens::Automatic.after_save(version.questions()),
        Lens::Automatic
    );
}

/// Columns of yes/no questions; one without a name is named after its question.
fn columns(text: &str) -> Vec<Column> {
    let mut lens: serde_json::Value = serde_json::from_str(text).unwrap();
    for column in lens["columns"].as_array_mut().unwrap() {
        column["type"] = "yes_no".into();
        if column.get("name").is_none() {
            column["name"] = column["question"].clone();
        }
    }
    serde_json::from_value(lens["columns"].take()).unwrap()
}

fn question_key(text: &str) -> QuestionKey {
    QuestionKey::parse(text).unwrap()
}

#[test]
fn the_first_label_of_a_question_decides() {
    let lens = columns(
        r#"{"columns": [
            {"name": "p", "question": "angry", "output": "probability"},
            {"name": "strict", "question": "angry", "output": "label", "no_below": 0.2, "yes_from": 0.9},
            {"name": "mild", "question": "angry", "output": "label"}]}"#,
    );
    let strict = Cutoffs::new(Some(0.2), Some(0.9)).unwrap();
    assert_eq!(cutoffs_of(&lens, &question_key("angry")), strict);
    assert_eq!(cutoffs_of(&lens, &question_key("rude")), Cutoffs::AUTOMATIC);
}

#[test]
fn cutoffs_go_to_every_label_of_the_question_and_to_nothing_else() {
    let lens = columns(
        r#"{"columns": [
            {"name": "p", "question": "angry", "output": "probability"},
            {"name": "a", "question": "angry", "output": "label", "no_below": 0.2},
            {"question": "rude", "output": "label"},
            {"name": "b", "question": "angry", "output": "label"}]}"#,
    );
    let changed = with_cutoffs(
        &lens,
        &[],
        &question_key("angry"),
        Cutoffs::new(Some(0.62), None).unwrap(),
    );
    let expected = columns(
        r#"{"columns": [
            {"name": "p", "question": "angry", "output": "probability"},
            {"name": "a", "question": "angry", "output": "label", "no_below": 0.62},
            {"question": "rude", "output": "label"},
            {"name": "b", "question": "angry", "output": "label", "no_below": 0.62}]}"#,
    );
    assert_eq!(changed, expected);
}

#[test]
fn a_question_without_a_label_gets_one_under_a_free_name() {
    let lens = columns(
        r#"{"columns": [
            {"name": "angry", "question": "angry", "output": "probability"},
            {"name": "angry_2", "question": "rude", "output": "label"}]}"#,
    );
    let cutoffs = Cutoffs::new(Some(0.3), Some(0.7)).unwrap();
    let changed = with_cutoffs(&lens, &[], &question_key("angry"), cutoffs);
    assert_eq!(changed[..2], lens[..]);
    assert_eq!(changed[2].name.as_str(), "angry_3");
    assert_eq!(changed[2].output, Output::Label(cutoffs));
    assert_eq!(changed.len(), 3);
}

fn column(name: &str) -> Column {
    Column {
        name: ColumnName::parse(name).unwrap(),
        question: QuestionKey::parse("angry").unwrap(),
        output: Output::YesProbability,
    }
}

fn name(taken: &[&str], fields: &[&str], output: Output) -> Option<String> {
    let columns: Vec<_> = taken.iter().map(|name| column(name)).collect();
    let field = |key: &&str| Field {
        key: FieldKey::parse(key).unwrap(),
        label: "F".to_owned(),
    };
    let fields: Vec<_> = fields.iter().map(field).collect();
    let angry = QuestionKey::parse("angry").unwrap();
    let name = free_name(&columns, &fields, &angry, output);
    name.map(|name| name.as_str().to_owned())
}

#[test]
fn a_name_that_a_column_or_a_field_has_gets_a_number() {
    let named = |taken, fields, output| name(taken, fields, output).unwrap();
    assert_eq!(
        named(&["angry"], &[], Output::YesProbability),
        "angry_probability"
    );
    let taken = ["angry_probability", "angry_probability_3"];
    assert_eq!(
        named(&taken, &["angry_probability_2"], Output::YesProbability),
        "angry_probability_4"
    );
    assert_eq!(
        named(&[], &["angry_all"], Output::AllOptions),
        "angry_all_2"
    );
}
