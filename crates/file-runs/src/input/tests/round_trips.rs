//! What the program wrote comes back in as it was: results in each format, and refused rows.

use proptest::prelude::*;
use refract_domain::ids::ResultId;
use refract_domain::key::FieldKey;
use refract_domain::lens::Lens;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::{ResultStatus, ResultView, RowColumns};
use refract_domain::submission::FieldValues;
use refract_lens_rendering::{RowFormat, RowWriter, write_raw_line};
use uuid::Uuid;

use super::*;
use crate::check::{ListedRow, RefusedRows};

fn version() -> PrismVersion {
    let json = r#"{ "fields": [{ "key": "text", "label": "T" }],
        "questions": [{ "key": "angry", "type": "yes_no", "text": "?" }] }"#;
    serde_json::from_str(json).unwrap()
}

fn write(format: RowFormat, texts: &[(String, String)]) -> Vec<u8> {
    let version = version();
    let columns = RowColumns {
        fields: version.fields(),
        lens: version.columns(&Lens::Automatic),
    };
    let mut out = Vec::new();
    let mut rows = RowWriter::new(format, columns, &mut out);
    rows.write_header().unwrap();
    let status = ResultStatus::Failed {
        error: "timeout".to_owned(),
    };
    for (text, reference) in texts {
        let key = FieldKey::parse("text").unwrap();
        let fields = FieldValues::new(vec![(key, text.clone())]);
        let result = ResultView {
            id: ResultId::new(Uuid::from_u128(1)),
            reference: Some(reference),
            prism: "p",
            version: VersionNumber::FIRST,
            questions: version.questions(),
            status: &status,
            took_ms: 1,
            created_at: "2026-05-04T09:08:07.060Z".parse().unwrap(),
            fields: &fields,
        };
        rows.write_row(&result).unwrap();
    }
    rows.finish().unwrap();
    out
}

#[test]
fn raw_results_come_back_as_they_were() {
    let version = version();
    let key = FieldKey::parse("text").unwrap();
    let fields = FieldValues::new(vec![(key, "a text".to_owned())]);
    let status = ResultStatus::Failed {
        error: "timeout".to_owned(),
    };
    let result = ResultView {
        id: ResultId::new(Uuid::from_u128(1)),
        reference: Some("r"),
        prism: "p",
        version: VersionNumber::FIRST,
        questions: version.questions(),
        status: &status,
        took_ms: 1,
        created_at: "2026-05-04T09:08:07.060Z".parse().unwrap(),
        fields: &fields,
    };
    let mut raw = Vec::new();
    write_raw_line(version.fields(), &result, [], &mut raw).unwrap();
    let text = |text: &str, reference: &str| vec![(text.to_owned(), reference.to_owned())];
    assert_eq!(texts("a.jsonl", &raw), text("a text", "r"));
    // another row with an object of this name
    let other = br#"{"text":"own","ref":"s","fields":{"text":"other"}}"#;
    assert_eq!(texts("a.jsonl", other), text("own", "s"));
}

/// The texts and refs of a file.
fn texts(name: &str, bytes: &[u8]) -> Vec<(String, String)> {
    let rows = rows(name, bytes).into_iter();
    rows.map(|(_, text, reference)| (text.unwrap(), reference.unwrap()))
        .collect()
}

/// A text without tabs and line breaks, as TSV has it.
fn in_tsv(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\t', '\r', '\n'], " ")
}

/// A text with everything that formats treat apart. A quote before a formula is left out at the
/// beginning: in CSV and TSV it is the guard (spec 4.0), and no reader can know whose it is.
fn text() -> impl Strategy<Value = String> {
    let text = prop::collection::vec(
        prop_oneof![
            prop::sample::select(vec![
                "\"", "\"\"", "'", "=", "-", "+", "@", "\t", "\n", "\r", "\r\n", ",", ";", "\\\"",
                "{", "[", "\u{feff}", " ", "ä", "😀", "null", "true", "sep=;",
            ])
            .prop_map(str::to_owned),
            "[a-z]{1,3}",
        ],
        0..6,
    );
    let text = text.prop_map(|parts| parts.concat());
    text.prop_filter("a quote that may be the guard", |text| {
        let rest = text.strip_prefix('\'');
        !rest.is_some_and(|rest| rest.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']))
    })
}

proptest! {
    #[test]
    fn results_come_back_as_they_were(
        written in prop::collection::vec((text(), text()), 1..6),
    ) {
        let csv = write(RowFormat::Csv, &written);
        prop_assert_eq!(texts("a.csv", &csv), &written[..]);
        let lines = write(RowFormat::Jsonl, &written);
        prop_assert_eq!(texts("a.jsonl", &lines), &written[..]);
        let without_breaks: Vec<_> = written
            .iter()
            .map(|(text, reference)| (in_tsv(text), in_tsv(reference)))
            .collect();
        // without it, texts that all look like quoted cells are read as such
        let with_quote = ("a \"b\" c".to_owned(), String::new());
        let tsv = write(RowFormat::Tsv, &[&written[..], &[with_quote]].concat());
        let read = texts("a.tsv", &tsv);
        // a tab or carriage return at the beginning is guarded before it becomes a space
        let is_guarded = |text: &str| text.starts_with(['\t', '\r']);
        for ((was, expected), found) in written.iter().zip(&without_breaks).zip(&read) {
            if !is_guarded(&was.0) && !is_guarded(&was.1) {
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn refused_rows_come_back_as_they_were(
        written in prop::collection::vec(("'?=?", text()), 1..6),
    ) {
        let written: Vec<_> = written.iter().map(|(quote, text)| quote.clone() + text).collect();
        let mut list = Vec::new();
        let columns = ["text", "ref"].map(str::to_owned);
        let mut refused = RefusedRows::new(Some(&mut list), &columns);
        refused.write_header().unwrap();
        for text in &written {
            let cells = vec![text.clone(), "r".to_owned()];
            let row = ListedRow { line: 2, reason: "too long".to_owned(), cells };
            refused.write(&row).unwrap();
        }
        let read = texts("a.csv", &list).into_iter().map(|(text, _)| text);
        prop_assert_eq!(read.collect::<Vec<_>>(), written);
    }
}
