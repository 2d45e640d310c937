//! Renders arbitrary labels, texts and probabilities in every format, and parses the output.

#![no_main]

use arbitrary::Arbitrary;
use chrono::DateTime;
use libfuzzer_sys::fuzz_target;
use refract_domain::answer::Answers;
use refract_domain::ids::ResultId;
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::{ResultStatus, ResultView, RowColumns};
use refract_domain::submission::FieldValues;
use refract_lens_rendering::{Format, render};
use serde_json::{Value, json};
use uuid::Uuid;

#[derive(Arbitrary, Debug)]
struct Sample {
    labels: [String; 3],
    probabilities: [u32; 9],
    chosen: Option<u8>,
    value: String,
    reference: Option<String>,
    error: Option<String>,
    no_below: u16,
    moment: u32,
}

fn probability(of: u32) -> f64 {
    f64::from(of % 1_000_001) / 1e6
}

fuzz_target!(|sample: Sample| {
    let [first, second, third] = &sample.labels;
    let version: PrismVersion = serde_json::from_value(json!({
        "fields": [{ "key": "text", "label": "Text" }, { "key": "gone", "label": "Gone" }],
        "questions": [
            { "key": "topic", "type": "choice", "text": "?",
              "options": [{ "key": "a", "label": first }, { "key": "b", "label": second }] },
            { "key": "angry", "type": "yes_no", "text": "?" },
            { "key": "urgency", "type": "scale", "text": "?",
              "levels": [{ "key": "low", "label": third }, { "key": "high", "label": first }] },
        ],
    }))
    .expect("a version");
    let p = sample.probabilities.map(probability);
    let keys = ["a", "b", "other", "insufficient_information"];
    let value = sample
        .chosen
        .map(|chosen| keys[usize::from(chosen) % keys.len()]);
    let answers: Answers = serde_json::from_value(json!({
        "topic": { "type": "choice", "value": value, "confidence": p[0],
            "probabilities": { "a": p[1], "b": p[2], "other": p[3], "insufficient_information": p[4] } },
        "angry": { "type": "yes_no", "probability": p[5] },
        "urgency": { "type": "scale", "level": "low", "probabilities": { "low": p[6], "high": p[7] } },
    }))
    .expect("answers");
    let mut columns = json!([
        { "name": "top", "question": "topic", "type": "choice", "output": "top" },
        { "name": "p", "question": "topic", "type": "choice", "output": "probability" },
        { "name": "all", "question": "topic", "type": "choice", "output": "all" },
        { "name": "angry", "question": "angry", "type": "yes_no", "output": "label" },
        { "name": "average", "question": "urgency", "type": "scale", "output": "average" },
        { "name": "levels", "question": "urgency", "type": "scale", "output": "all" },
        { "name": "lost", "question": "lost", "type": "scale", "output": "level" },
    ]);
    columns[3]["no_below"] = json!((f64::from(sample.no_below) + 0.5) / 65_536.0);
    let columns: Vec<Column> = serde_json::from_value(columns).expect("columns");
    let lens = Lens::Custom(columns);
    let fields: FieldValues =
        serde_json::from_value(json!({ "text": sample.value })).expect("values");
    let status = match &sample.error {
        None => ResultStatus::Ok(answers),
        Some(error) => ResultStatus::Failed {
            error: error.clone(),
        },
    };
    let view = ResultView {
        id: ResultId::new(Uuid::from_u128(7)),
        reference: sample.reference.as_deref(),
        prism: "fuzz",
        version: VersionNumber::FIRST,
        questions: version.questions(),
        status: &status,
        took_ms: 1,
        created_at: DateTime::from_timestamp_millis(i64::from(sample.moment)).expect("a moment"),
        fields: &fields,
    };
    let columns = RowColumns {
        fields: version.fields(),
        lens: version.columns(&lens),
    };
    let rendered = |format| {
        let mut bytes = Vec::new();
        render(format, &columns, &view, &mut bytes).expect("a vector takes everything");
        String::from_utf8(bytes).expect("UTF-8")
    };
    for format in [Format::Json, Format::Raw] {
        let read: Value = serde_json::from_str(&rendered(format)).expect("JSON");
        assert_eq!(read["error"].as_str(), sample.error.as_deref());
    }
    let jsonl = rendered(Format::Jsonl);
    assert!(jsonl.ends_with('\n') && jsonl.lines().count() == 1);
    let read: Value = serde_json::from_str(&jsonl).expect("JSON");
    assert_eq!(read["text"], sample.value.as_str());
    let csv = rendered(Format::Csv);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 2);
    let text = &rows[1][6];
    let formula = sample.value.starts_with(['=', '+', '-', '@', '\t', '\r']);
    assert_eq!(
        text,
        if formula {
            format!("'{}", sample.value)
        } else {
            sample.value.clone()
        }
    );
    let tsv = rendered(Format::Tsv);
    for line in tsv.strip_suffix('\n').expect("a last line end").split('\n') {
        assert_eq!(line.matches('\t').count(), rows[0].len() - 1);
    }
});
