use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use refract_domain::answer::{Answer, Answers, Probability};
use refract_domain::ids::ResultId;
use refract_domain::key::{ColumnName, FieldKey, OutcomeKey, QuestionKey};
use refract_domain::lens::Output::{AllOptions, Top, TopProbability, YesProbability};
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::{Cost, ResultStatus};
use refract_domain::submission::FieldValues;
use refract_lens_rendering::{ProvenanceColumn, RawColumns};
use uuid::Uuid;

use super::*;

fn version() -> PrismVersion {
    serde_json::from_str(
        r#"{ "fields": [{ "key": "text", "label": "T" }], "questions": [
            { "key": "topic", "type": "choice", "text": "?", "options": [
                { "key": "a", "label": "A" }, { "key": "b", "label": "B" }] },
            { "key": "angry", "type": "yes_no", "text": "?" }] }"#,
    )
    .unwrap()
}

fn lens(version: &PrismVersion) -> Vec<Column> {
    let column = |name: &str, question: &str, output| Column {
        name: ColumnName::parse(name).unwrap(),
        question: QuestionKey::parse(question).unwrap(),
        output,
    };
    let mut all = version.columns(&Lens::Automatic).to_vec();
    all.extend([
        column("topic_all", "topic", AllOptions),
        column("sure", "topic", TopProbability),
        column("p", "angry", YesProbability),
        column("again", "topic", Top),
    ]);
    all
}

fn probability(millionths: u32) -> Probability {
    Probability::from_millionths(millionths).unwrap()
}

fn answered() -> ResultStatus {
    let outcome = |key: &str| OutcomeKey::parse(key).unwrap();
    let topic = Answer::Choice {
        value: Some(outcome("b")),
        probabilities: [("a", 300_000), ("b", 700_000)]
            .map(|(key, p)| (outcome(key), probability(p)))
            .into_iter()
            .collect(),
        confidence: probability(700_000),
    };
    let angry = Answer::YesNo {
        probability: probability(912_345),
    };
    let key = |key: &str| QuestionKey::parse(key).unwrap();
    ResultStatus::Ok(Answers::new(vec![
        (key("topic"), topic),
        (key("angry"), angry),
    ]))
}

/// The rows of a file with this many results, of which every third failed.
fn written(count: u32, own: Option<&[String]>) -> (Vec<Vec<u8>>, Vec<Row>) {
    let version = version();
    let lens = lens(&version);
    let columns = RowColumns {
        fields: version.fields(),
        lens: &lens,
    };
    let mut rows = ParquetRows::new(columns, own, &[]).unwrap();
    let (ok, failed) = (
        answered(),
        ResultStatus::Failed {
            error: "timeout".to_owned(),
        },
    );
    let mut pieces = Vec::new();
    for number in 0..count {
        let text = FieldKey::parse("text").unwrap();
        let fields = FieldValues::new(vec![(text, format!("text {number} ä"))]);
        let result = ResultView {
            id: ResultId::new(Uuid::from_u128(number.into())),
            reference: (number % 2 == 0).then_some("r"),
            prism: "p",
            version: VersionNumber::FIRST,
            questions: version.questions(),
            status: if number % 3 == 2 { &failed } else { &ok },
            took_ms: 1,
            created_at: "2026-05-04T09:08:07.060Z".parse().unwrap(),
            fields: &fields,
        };
        let piece = rows.write(&["=own".to_owned()], &result, []).unwrap();
        pieces.extend((!piece.is_empty()).then_some(piece));
    }
    pieces.push(rows.finish().unwrap());
    let reader = SerializedFileReader::new(Bytes::from(pieces.concat())).unwrap();
    let read = reader.get_row_iter(None).unwrap();
    let read = read.map(Result::unwrap).collect();
    (pieces, read)
}

#[test]
fn probabilities_and_costs_are_doubles_after_the_fields() {
    let version = version();
    let columns = RowColumns {
        fields: version.fields(),
        lens: &[],
    };
    let raw = RawColumns::new(std::slice::from_ref(&version), &[]);
    let provenance = ProvenanceColumn::ALL.map(FurtherColumn::from);
    let further = [raw.columns(), &provenance].concat();
    let mut rows = ParquetRows::new(columns, None, &further).unwrap();
    let (status, fields) = (answered(), FieldValues::new(Vec::new()));
    let result = ResultView {
        id: ResultId::new(Uuid::from_u128(1)),
        reference: None,
        prism: "p",
        version: VersionNumber::FIRST,
        questions: version.questions(),
        status: &status,
        took_ms: 412,
        created_at: "2026-05-04T09:08:07.060Z".parse().unwrap(),
        fields: &fields,
    };
    for cost in ["0.000012", "unknown"].map(Cost::parse) {
        let raw = raw.values(&result).into_iter().map(FurtherValue::from);
        let provenance = [
            FurtherValue::Text(Some("a model")),
            FurtherValue::Integer(result.took_ms),
            FurtherValue::Cost(cost),
            FurtherValue::Text(None),
        ];
        rows.write(&[], &result, raw.chain(provenance)).unwrap();
    }
    let reader = SerializedFileReader::new(Bytes::from(rows.finish().unwrap())).unwrap();
    let read = reader.get_row_iter(None).unwrap();
    let read: Vec<Row> = read.map(Result::unwrap).collect();
    for (name, expected) in [
        ("topic", Field::Str("b".to_owned())),
        ("topic.a", Field::Double(0.3)),
        ("topic.other", Field::Null),
        ("angry", Field::Str("yes".to_owned())),
        ("angry.no", Field::Double(0.087_655)),
        ("model", Field::Str("a model".to_owned())),
        ("took_ms", Field::Int(412)),
        ("cost", Field::Double(0.000_012)),
        ("run", Field::Null),
    ] {
        assert_eq!(column(&read[0], name), &expected, "{name}");
    }
    assert_eq!(column(&read[1], "cost"), &Field::Null);
}

fn column<'r>(row: &'r Row, name: &str) -> &'r Field {
    let mut columns = row.get_column_iter();
    columns.find(|(column, _)| *column == name).unwrap().1
}

#[test]
fn values_have_the_types_of_their_columns() {
    let (_, rows) = written(3, None);
    let names: Vec<_> = rows[0]
        .get_column_iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "result_id",
            "ref",
            "version",
            "status",
            "error",
            "created_at",
            "text",
            "topic",
            "angry",
            "topic_all",
            "sure",
            "p",
            "again"
        ]
    );
    assert_eq!(column(&rows[0], "version"), &Field::Int(1));
    assert_eq!(
        column(&rows[0], "created_at"),
        &Field::TimestampMillis(1_777_885_687_060)
    );
    assert_eq!(column(&rows[0], "topic"), &Field::Str("b".to_owned()));
    assert_eq!(column(&rows[0], "sure"), &Field::Double(0.7));
    assert_eq!(column(&rows[0], "p"), &Field::Double(0.912_345));
    assert_eq!(column(&rows[1], "ref"), &Field::Null);
    assert_eq!(column(&rows[1], "text"), &Field::Str("text 1 ä".to_owned()));
    let Field::MapInternal(all) = column(&rows[1], "topic_all") else {
        panic!("no map");
    };
    let entries = [("a", 0.3), ("b", 0.7)];
    let entries = entries.map(|(key, p)| (Field::Str(key.to_owned()), Field::Double(p)));
    assert_eq!(all.entries(), entries);
    for name in ["topic", "topic_all", "sure", "p"] {
        assert_eq!(column(&rows[2], name), &Field::Null, "{name}");
    }
    assert_eq!(column(&rows[2], "error"), &Field::Str("timeout".to_owned()));
}

#[test]
fn columns_of_the_file_take_the_place_of_ref_and_fields() {
    let own = ["note".to_owned(), "more".to_owned()];
    let (_, rows) = written(1, Some(&own));
    let names: Vec<_> = rows[0]
        .get_column_iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names[..4], ["note", "more", "result_id", "version"]);
    assert!(!names.contains(&"text") && !names.contains(&"ref"));
    assert_eq!(column(&rows[0], "note"), &Field::Str("=own".to_owned()));
    assert_eq!(column(&rows[0], "more"), &Field::Str(String::new()));
}

#[test]
fn rows_are_written_in_groups_and_none_make_a_file_too() {
    let (pieces, rows) = written(40_000, None);
    assert!(pieces.len() > 1, "{}", pieces.len());
    assert!(pieces.iter().all(|piece| piece.len() < GROUP_BYTES));
    assert_eq!(rows.len(), 40_000);
    let last = column(&rows[39_999], "text");
    assert_eq!(last, &Field::Str("text 39999 ä".to_owned()));
    assert_eq!(written(0, None).1.len(), 0);
}
