//! Rows of answers that flipped.

use refract_domain::answer::Probability;
use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_lens_rendering::{FlipRow, FlipRowWriter, RowFormat};

const ID: &str = "0190b8f2-0000-7000-8000-0000000000aa";

/// A flip with all values and one with as few as possible.
fn written(format: RowFormat) -> String {
    let question = QuestionKey::parse("topic").unwrap();
    let [billing, other] = ["billing", "other"].map(|key| OutcomeKey::parse(key).unwrap());
    let p = |number| Probability::from_f64(number).unwrap();
    let result = ResultId::parse(ID).unwrap();
    let mut rows = FlipRowWriter::new(format, Vec::new());
    rows.write_header().unwrap();
    let full = FlipRow {
        result,
        reference: Some("=order, 7"),
        question: &question,
        before: Some((&billing, Some(p(0.7)))),
        after: Some((&other, Some(p(0.999_999)))),
        marked: Some(&billing),
    };
    rows.write_row(&full).unwrap();
    let bare = FlipRow {
        reference: None,
        before: None,
        after: Some((&other, None)),
        marked: None,
        ..full
    };
    rows.write_row(&bare).unwrap();
    String::from_utf8(rows.finish().unwrap()).unwrap()
}

#[test]
fn a_flip_is_a_row_with_both_outcomes_and_their_probabilities() {
    assert_eq!(
        written(RowFormat::Csv),
        format!(
            "result_id,ref,question,before,before_probability,after,after_probability,marked\r\n\
             {ID},\"'=order, 7\",topic,billing,0.7,other,0.999999,billing\r\n\
             {ID},,topic,,,other,,\r\n"
        )
    );
    assert_eq!(
        written(RowFormat::Tsv).lines().nth(2).unwrap(),
        format!("{ID}\t\ttopic\t\t\tother\t\t")
    );
    assert_eq!(
        written(RowFormat::Jsonl),
        format!(
            concat!(
                r#"{{"result_id":"{id}","ref":"=order, 7","question":"topic","before":"billing","#,
                r#""before_probability":0.7,"after":"other","after_probability":0.999999,"#,
                r#""marked":"billing"}}"#,
                "\n",
                r#"{{"result_id":"{id}","ref":null,"question":"topic","before":null,"#,
                r#""before_probability":null,"after":"other","after_probability":null,"#,
                r#""marked":null}}"#,
                "\n"
            ),
            id = ID
        )
    );
}
