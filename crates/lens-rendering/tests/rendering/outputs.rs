//! The value of each output of each question type in each format (spec 2.5).

use insta::assert_snapshot;
use refract_lens_rendering::Format;
use serde_json::{Value, json};

use crate::sample::{Sample, sample};

/// The value or cell of one column in every format that has lens columns.
fn shown(result: &Sample, column: &Value) -> String {
    let result = result.clone().with_columns(json!([column]));
    let end = |format, before: &str, line_end: &str| {
        let row = result.row(format);
        let cell = row
            .rsplit_once(before)
            .unwrap()
            .1
            .strip_suffix(line_end)
            .unwrap();
        cell.to_owned()
    };
    format!(
        "json  {}\njsonl {}\ncsv   {}\ntsv   {}",
        end(Format::Json, r#""answers":{"c":"#, "}}"),
        end(Format::Jsonl, r#","c":"#, "}\n"),
        end(Format::Csv, "Where is it?,", "\r\n"),
        end(Format::Tsv, "\t", "\n"),
    )
}

fn choice(output: &str) -> Value {
    json!({ "name": "c", "question": "topic", "type": "choice", "output": output })
}

fn yes_no(output: &str) -> Value {
    json!({ "name": "c", "question": "angry", "type": "yes_no", "output": output })
}

fn scale(output: &str) -> Value {
    json!({ "name": "c", "question": "urgency", "type": "scale", "output": output })
}

#[test]
fn choice_top_is_the_option_key_and_in_cells_its_label() {
    assert_snapshot!(shown(&sample(), &choice("top")), @r#"
    json  "delivery"
    jsonl "delivery"
    csv   "Delivery, late"
    tsv   Delivery, late
    "#);
}

#[test]
fn choice_top_has_the_built_in_outcomes_labels() {
    for (key, label) in [
        ("other", "Other"),
        ("insufficient_information", "Not enough information"),
    ] {
        let answer =
            json!({ "type": "choice", "value": key, "confidence": 1, "probabilities": { key: 1 } });
        let shown = shown(&sample().with_answer("topic", answer), &choice("top"));
        assert_eq!(
            shown,
            format!("json  \"{key}\"\njsonl \"{key}\"\ncsv   {label}\ntsv   {label}")
        );
    }
}

#[test]
fn choice_probability_is_that_of_the_chosen_option() {
    assert_snapshot!(shown(&sample(), &choice("probability")), @"
    json  0.62
    jsonl 0.62
    csv   0.62
    tsv   0.62
    ");
}

#[test]
fn choice_all_is_an_object_and_in_cells_a_text_list_highest_first() {
    assert_snapshot!(shown(&sample(), &choice("all")), @r#"
    json  {"billing":0.3,"delivery":0.62,"other":0.000001,"insufficient_information":0.079999}
    jsonl {"billing":0.3,"delivery":0.62,"other":0.000001,"insufficient_information":0.079999}
    csv   "Delivery, late: 0.62; Billing: 0.3; Not enough information: 0.079999; Other: 0.000001"
    tsv   Delivery, late: 0.62; Billing: 0.3; Not enough information: 0.079999; Other: 0.000001
    "#);
}

#[test]
fn yes_no_label_is_a_key_and_in_cells_a_label() {
    assert_snapshot!(shown(&sample(), &yes_no("label")), @r#"
    json  "no"
    jsonl "no"
    csv   No
    tsv   No
    "#);
    let mut with_a_band = yes_no("label");
    with_a_band["no_below"] = json!(0.45);
    with_a_band["yes_from"] = json!(0.46);
    assert_snapshot!(shown(&sample(), &with_a_band), @r#"
    json  "unsure"
    jsonl "unsure"
    csv   Unsure
    tsv   Unsure
    "#);
    let mut lower = yes_no("label");
    lower["no_below"] = json!(0.45);
    assert_snapshot!(shown(&sample(), &lower), @r#"
    json  "yes"
    jsonl "yes"
    csv   Yes
    tsv   Yes
    "#);
}

#[test]
fn a_cutoff_is_met_exactly_where_it_is_written() {
    // 0.3 has no exact binary fraction
    let cases = [
        (0.299_999, json!({ "no_below": 0.3 }), "No"),
        (0.3, json!({ "no_below": 0.3 }), "Yes"),
        (0.3, json!({ "no_below": 0.1, "yes_from": 0.3 }), "Yes"),
        (
            0.299_999,
            json!({ "no_below": 0.1, "yes_from": 0.3 }),
            "Unsure",
        ),
        (0.099_999, json!({ "no_below": 0.1, "yes_from": 0.3 }), "No"),
        (0.1, json!({ "no_below": 0.1, "yes_from": 0.3 }), "Unsure"),
        (0.999_999, json!({ "yes_from": 1 }), "Unsure"),
        (1.0, json!({ "yes_from": 1 }), "Yes"),
        (0.499_999, json!({}), "No"),
        (0.5, json!({}), "Yes"),
        (0.5, json!({ "yes_from": 0.6 }), "Unsure"),
    ];
    for (probability, cutoffs, label) in cases {
        let mut column = yes_no("label");
        for (name, value) in cutoffs.as_object().unwrap() {
            column[name] = value.clone();
        }
        let answer = json!({ "type": "yes_no", "probability": probability });
        let shown = shown(&sample().with_answer("angry", answer), &column);
        assert!(
            shown.contains(&format!("csv   {label}\n")),
            "{probability} {cutoffs}: {shown}"
        );
    }
}

#[test]
fn yes_no_probability_is_that_of_yes() {
    assert_snapshot!(shown(&sample(), &yes_no("probability")), @"
    json  0.45
    jsonl 0.45
    csv   0.45
    tsv   0.45
    ");
}

#[test]
fn scale_level_is_the_level_key_and_in_cells_its_label() {
    assert_snapshot!(shown(&sample(), &scale("level")), @r#"
    json  "today"
    jsonl "today"
    csv   '=Today
    tsv   '=Today
    "#);
}

#[test]
fn scale_number_is_the_levels_position_from_1() {
    assert_snapshot!(shown(&sample(), &scale("number")), @"
    json  3
    jsonl 3
    csv   3
    tsv   3
    ");
}

#[test]
fn scale_average_is_the_expected_level_number() {
    assert_snapshot!(shown(&sample(), &scale("average")), @"
    json  2.25
    jsonl 2.25
    csv   2.25
    tsv   2.25
    ");
}

#[test]
fn scale_average_is_rounded_half_up_on_the_decimal_value() {
    let cases = [
        // with doubles the sum 0.995 + 2 * 0.005 is below 1.005
        ([0.995, 0.005, 0.0], "1.01"),
        ([0.995_001, 0.004_999, 0.0], "1"),
        ([0.0, 0.0, 1.0], "3"),
        ([0.9, 0.1, 0.0], "1.1"),
        ([0.0, 0.0, 0.0], "0"),
    ];
    for ([low, middle, high], average) in cases {
        let answer = json!({ "type": "scale", "level": "can_wait",
            "probabilities": { "can_wait": low, "this_week": middle, "today": high } });
        let shown = shown(&sample().with_answer("urgency", answer), &scale("average"));
        assert!(
            shown.ends_with(&format!("\ntsv   {average}")),
            "{average}: {shown}"
        );
    }
}

#[test]
fn scale_probability_is_that_of_the_most_probable_level() {
    assert_snapshot!(shown(&sample(), &scale("probability")), @"
    json  0.5
    jsonl 0.5
    csv   0.5
    tsv   0.5
    ");
}

#[test]
fn scale_all_is_an_object_and_in_cells_a_text_list_equal_ones_in_the_prisms_order() {
    assert_snapshot!(shown(&sample(), &scale("all")), @r#"
    json  {"can_wait":0.25,"this_week":0.25,"today":0.5}
    jsonl {"can_wait":0.25,"this_week":0.25,"today":0.5}
    csv   '=Today: 0.5; Can wait: 0.25; This week: 0.25
    tsv   '=Today: 0.5; Can wait: 0.25; This week: 0.25
    "#);
}

/// Every output of every question type, by the key of the question.
fn every_output(question: &str) -> Vec<Value> {
    let outputs = [
        ("choice", &["top", "probability", "all"][..]),
        ("yes_no", &["label", "probability"]),
        (
            "scale",
            &["level", "number", "average", "probability", "all"],
        ),
    ];
    let columns = outputs.iter().flat_map(|(question_type, outputs)| {
        outputs.iter().map(move |output| {
            json!({ "name": "c", "question": question, "type": question_type, "output": output })
        })
    });
    columns.collect()
}

const NOTHING: &str = "json  null\njsonl null\ncsv   \ntsv   ";

#[test]
fn every_output_is_null_when_the_version_has_no_such_question() {
    for column in every_output("added_later") {
        assert_eq!(shown(&sample(), &column), NOTHING, "{column}");
    }
}

#[test]
fn every_output_is_null_when_the_version_has_the_question_with_another_type() {
    for (question, own) in [
        ("topic", "choice"),
        ("angry", "yes_no"),
        ("urgency", "scale"),
    ] {
        let others = every_output(question)
            .into_iter()
            .filter(|column| column["type"] != own);
        for column in others {
            assert_eq!(shown(&sample(), &column), NOTHING, "{column}");
        }
    }
}

#[test]
fn top_and_its_probability_are_null_when_the_model_named_no_option_of_the_prism() {
    let answer = json!({ "type": "choice", "value": null, "confidence": 0,
        "probabilities": { "billing": 0.1, "delivery": 0.2 } });
    let result = sample().with_answer("topic", answer);
    assert_eq!(shown(&result, &choice("top")), NOTHING);
    assert_eq!(shown(&result, &choice("probability")), NOTHING);
    assert_snapshot!(shown(&result, &choice("all")), @r#"
    json  {"billing":0.1,"delivery":0.2}
    jsonl {"billing":0.1,"delivery":0.2}
    csv   "Delivery, late: 0.2; Billing: 0.1"
    tsv   Delivery, late: 0.2; Billing: 0.1
    "#);
}
