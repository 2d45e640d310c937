//! Marks: columns after those of the lens, and separate rows.

use refract_domain::key::{ColumnName, OutcomeKey, QuestionKey};
use refract_domain::result::mark;
use refract_lens_rendering::{
    AnnotatorRow, Format, MarkRowWriter, RowFormat, RowWriter, adjudicated_column, person_column,
};
use serde_json::json;

use crate::sample::{Sample, read, sample};

const FORMATS: [(RowFormat, Format); 3] = [
    (RowFormat::Csv, Format::Csv),
    (RowFormat::Tsv, Format::Tsv),
    (RowFormat::Jsonl, Format::Jsonl),
];

/// A row of a result whose questions are marked with these outcomes.
fn marked_row(format: RowFormat, result: &Sample, outcomes: &[Option<&str>]) -> String {
    let names: Vec<ColumnName> = read(json!(["topic_marked", "angry_marked", "urgency_marked"]));
    let rows = RowWriter::new(format, result.columns(), Vec::new());
    let mut rows = rows.with_further(names.iter().map(ColumnName::as_str));
    rows.write_header().unwrap();
    let values = result.version.questions().iter().zip(outcomes);
    let values = values.map(|(question, outcome)| {
        let outcome = OutcomeKey::parse(outcome.unwrap_or("unmarked")).unwrap();
        mark::value(question, &outcome)
    });
    rows.write_marked_row(&result.view(), values).unwrap();
    String::from_utf8(rows.finish().unwrap()).unwrap()
}

#[test]
fn columns_of_marks_follow_those_of_the_lens() {
    let result = sample();
    for (row_format, format) in FORMATS {
        let row = result.row(format);
        let end = if row.ends_with("\r\n") { "\r\n" } else { "\n" };
        let without = result.render(format);
        let without: Vec<_> = without.split_terminator(end).collect();
        let marks = [Some("delivery"), Some("no"), Some("today")];
        let written = marked_row(row_format, &result, &marks);
        let written: Vec<_> = written.split_terminator(end).collect();
        let added = match row_format {
            RowFormat::Csv => vec![
                ",topic_marked,angry_marked,urgency_marked",
                ",\"Delivery, late\",No,'=Today",
            ],
            RowFormat::Tsv => vec![
                "\ttopic_marked\tangry_marked\turgency_marked",
                "\tDelivery, late\tNo\t'=Today",
            ],
            RowFormat::Jsonl => {
                vec![r#","topic_marked":"delivery","angry_marked":"no","urgency_marked":"today"}"#]
            }
        };
        assert_eq!(written.len(), added.len());
        for (line, (before, added)) in written.iter().zip(without.iter().zip(added)) {
            let before = before.strip_suffix('}').unwrap_or(before);
            assert_eq!(*line, format!("{before}{added}"));
        }
    }
}

#[test]
fn what_is_not_marked_is_empty() {
    for result in [sample(), sample().failed("No answer")] {
        for (format, ending) in [
            (RowFormat::Csv, ",,,\r\n"),
            (RowFormat::Tsv, "\t\t\t\n"),
            (
                RowFormat::Jsonl,
                "\"topic_marked\":null,\"angry_marked\":null,\"urgency_marked\":null}\n",
            ),
        ] {
            for marks in [&[None, None, None][..], &[None], &[]] {
                let written = marked_row(format, &result, marks);
                assert!(written.ends_with(ending), "{written}");
            }
        }
    }
}

#[test]
fn rows_of_marks_hold_keys() {
    let questions: Vec<QuestionKey> = read(json!(["topic", "angry"]));
    let delivery: OutcomeKey = read(json!("delivery"));
    let result = sample();
    let write_all = |format: RowFormat, reference: Option<&str>, person, has_adjudicated| {
        let mut rows = MarkRowWriter::new(format, &questions, has_adjudicated, Vec::new());
        rows.write_header().unwrap();
        let marked = |question: &QuestionKey| (question.as_str() == "topic").then_some(&delivery);
        let row = AnnotatorRow {
            id: result.id,
            reference,
            person,
            is_adjudicated: has_adjudicated,
        };
        rows.write_row(row, marked).unwrap();
        String::from_utf8(rows.finish().unwrap()).unwrap()
    };
    let write = |format, reference| write_all(format, reference, "", false);
    let id = result.id;
    assert_eq!(
        write(RowFormat::Csv, Some("=1, \"a\"")),
        format!("result_id,ref,person,topic,angry\r\n{id},\"'=1, \"\"a\"\"\",,delivery,\r\n")
    );
    assert_eq!(
        write(RowFormat::Tsv, Some("-a\tb")),
        format!("result_id\tref\tperson\ttopic\tangry\n{id}\t'-a b\t\tdelivery\t\n")
    );
    assert_eq!(
        write(RowFormat::Jsonl, Some("=1")),
        format!(
            r#"{{"result_id":"{id}","ref":"=1","person":null,"topic":"delivery","angry":null}}"#
        ) + "\n"
    );
    assert_eq!(
        write(RowFormat::Jsonl, None),
        format!(
            r#"{{"result_id":"{id}","ref":null,"person":null,"topic":"delivery","angry":null}}"#
        ) + "\n"
    );
    assert_eq!(
        write_all(RowFormat::Csv, None, "=Ada", true),
        format!("result_id,ref,person,adjudicated,topic,angry\r\n{id},,'=Ada,true,delivery,\r\n")
    );
    assert_eq!(
        write_all(RowFormat::Jsonl, None, "Ada", true),
        format!(
            r#"{{"result_id":"{id}","ref":null,"person":"Ada","adjudicated":"true","topic":"delivery","angry":null}}"#
        ) + "\n"
    );
}

#[test]
fn a_question_keeps_the_column_of_its_key() {
    let questions: Vec<QuestionKey> = read(json!(["person", "adjudicated"]));
    assert_eq!(person_column(&questions), "marked_by");
    assert_eq!(adjudicated_column(&questions), "is_adjudicated");
}
