//! A download in an app: writes several results as csv under one header to standard output.
//!
//! `cargo run -p refract-lens-rendering --example embed`

use std::error::Error;
use std::io;

use chrono::{DateTime, Utc};
use refract_domain::answer::Answers;
use refract_domain::ids::ResultId;
use refract_domain::lens::Column;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::ResultStatus;
use refract_domain::result::view::{ResultView, RowColumns};
use refract_domain::submission::FieldValues;
use refract_lens_rendering::{RowFormat, RowWriter};

/// The version of the prism that answered, in its stored form.
const VERSION: &str = r#"{
    "fields": [{ "key": "text", "label": "Message" }],
    "questions": [
        { "key": "topic", "type": "choice", "text": "What is the message about?", "options": [
            { "key": "billing", "label": "Billing" }, { "key": "delivery", "label": "Delivery" }] },
        { "key": "urgency", "type": "scale", "text": "How urgent is it?", "levels": [
            { "key": "can_wait", "label": "Can wait" }, { "key": "today", "label": "Today" }] }]
}"#;

/// The columns of a custom lens, in their stored form.
const LENS: &str = r#"[
    { "name": "topic", "question": "topic", "type": "choice", "output": "top" },
    { "name": "topic_all", "question": "topic", "type": "choice", "output": "all" },
    { "name": "urgency_average", "question": "urgency", "type": "scale", "output": "average" }
]"#;

const ANSWERS: &str = r#"{
    "topic": { "type": "choice", "value": "delivery", "confidence": 0.87, "probabilities": {
        "billing": 0.06, "delivery": 0.9, "other": 0.03, "insufficient_information": 0.01 } },
    "urgency": { "type": "scale", "level": "today", "probabilities": {
        "can_wait": 0.2, "today": 0.8 } }
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let version: PrismVersion = serde_json::from_str(VERSION)?;
    let lens: Vec<Column> = serde_json::from_str(LENS)?;
    let answers: Answers = serde_json::from_str(ANSWERS)?;
    // refused unless they are answers of this version
    let answers = answers.matched_to(version.questions())?;
    let created_at: DateTime<Utc> = "2026-05-04T09:08:07.060Z".parse()?;
    let results = [
        (
            "0190b8f2-0000-7000-8000-000000000001",
            "Where is my order?",
            ResultStatus::Ok(answers),
        ),
        (
            "0190b8f2-0000-7000-8000-000000000002",
            "=SUM(A1:A9), and \"quotes\"",
            ResultStatus::Failed {
                error: "The model timed out.".to_owned(),
            },
        ),
    ];

    let columns = RowColumns {
        fields: version.fields(),
        lens: &lens,
    };
    let mut rows = RowWriter::new(RowFormat::Csv, columns, io::stdout().lock());
    rows.write_header()?;
    for (id, text, status) in &results {
        let fields: FieldValues = serde_json::from_value(serde_json::json!({ "text": text }))?;
        rows.write_row(&ResultView {
            id: ResultId::parse(id).ok_or("not an id")?,
            reference: None,
            prism: "support-triage",
            version: VersionNumber::FIRST,
            questions: version.questions(),
            status,
            took_ms: 412,
            created_at,
            fields: &fields,
        })?;
    }
    drop(rows.finish()?);
    Ok(())
}
