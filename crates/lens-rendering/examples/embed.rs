//! A download in an app: writes results that the API gave out as csv under one header to standard
//! output. They are of two versions of a prism; the columns are those of the latest one.
//!
//! `cargo run --example embed` in this package.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use refract_authoring::lens_file;
use refract_authoring::prism_file::PrismFile;
use refract_lens_rendering::prelude::*;

/// The versions of the prism by number, each as `refract prism show SLUG --version N` prints it.
const VERSIONS: [(i32, &str); 2] = [
    (
        1,
        r#"{
            "name": "Support triage",
            "fields": [{ "key": "text", "label": "Message" }],
            "questions": [
                { "key": "topic", "type": "choice", "text": "What is the message about?", "options": [
                    { "key": "billing", "label": "Billing" }, { "key": "delivery", "label": "Delivery" }] }]
        }"#,
    ),
    (
        2,
        r#"{
            "name": "Support triage",
            "fields": [{ "key": "text", "label": "Message" }],
            "questions": [
                { "key": "topic", "type": "choice", "text": "What is the message about?", "options": [
                    { "key": "billing", "label": "Billing" }, { "key": "delivery", "label": "Delivery" }] },
                { "key": "urgency", "type": "scale", "text": "How urgent is it?", "levels": [
                    { "key": "can_wait", "label": "Can wait" }, { "key": "today", "label": "Today" }] }]
        }"#,
    ),
];

/// A lens file.
const LENS: &str = r#"{ "columns": [
    { "question": "topic", "output": "top" },
    { "question": "topic", "output": "all" },
    { "question": "urgency", "output": "average" }
] }"#;

/// Bodies of the API with `format=raw`, each with the text that was sent.
const RESULTS: [(&str, &str); 3] = [
    (
        "Where is my order?",
        r#"{ "id": "0190b8f2-0000-7000-8000-000000000001", "ref": null, "prism": "support-triage", "version": 1,
            "status": "ok", "error": null, "took_ms": 380, "created_at": "2026-05-02T10:00:00.000Z",
            "answers": { "topic": { "type": "choice", "value": "delivery", "confidence": 0.87, "probabilities": {
                "billing": 0.06, "delivery": 0.9, "other": 0.03, "insufficient_information": 0.01 } } } }"#,
    ),
    (
        "I was charged twice, and I need it today",
        r#"{ "id": "0190b8f2-0000-7000-8000-000000000002", "ref": "order 7", "prism": "support-triage", "version": 2,
            "status": "ok", "error": null, "took_ms": 412, "created_at": "2026-05-04T09:08:07.060Z",
            "answers": { "topic": { "type": "choice", "value": "billing", "confidence": 0.87, "probabilities": {
                "billing": 0.9, "delivery": 0.06, "other": 0.03, "insufficient_information": 0.01 } },
              "urgency": { "type": "scale", "level": "today", "probabilities": { "can_wait": 0.2, "today": 0.8 } } } }"#,
    ),
    (
        "=SUM(A1:A9), and \"quotes\"",
        r#"{ "id": "0190b8f2-0000-7000-8000-000000000003", "ref": null, "prism": "support-triage", "version": 2,
            "status": "failed", "error": "The model timed out.", "took_ms": 30000,
            "created_at": "2026-05-04T09:08:37.100Z", "answers": null }"#,
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut versions = BTreeMap::new();
    for (number, file) in VERSIONS {
        let file = PrismFile::read(file.as_bytes(), None)?;
        let number = VersionNumber::try_from(number)?;
        versions.insert(number, Arc::new(file.version));
    }
    let (_, latest) = versions.last_key_value().ok_or("no version")?;
    let lens = lens_file::read_lens(LENS.as_bytes(), latest)?;
    let columns = RowColumns {
        fields: latest.fields(),
        lens: latest.columns(&lens),
    };

    let mut rows = RowWriter::new(RowFormat::Csv, columns, io::stdout().lock());
    rows.write_header()?;
    for (text, raw) in RESULTS {
        let fields = vec![("text".to_owned(), text.to_owned())];
        let result = RawResult::read(raw, |number| versions.get(&number).cloned())?;
        let result = result.with_fields(SentFields::new(fields))?;
        rows.write_row(&result.view())?;
    }
    rows.finish()?.flush()?;
    Ok(())
}
