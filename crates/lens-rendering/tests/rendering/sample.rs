//! A prism with one answered and one failed result, as plain data.

use std::fmt;

use refract_domain::answer::Answers;
use refract_domain::ids::ResultId;
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::{ResultStatus, ResultView, RowColumns};
use refract_domain::submission::FieldValues;
use refract_lens_rendering::{Format, render};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Everything that a [`ResultView`] borrows, and the columns of the row.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) id: ResultId,
    pub(crate) reference: Option<String>,
    pub(crate) number: VersionNumber,
    /// The version that answered.
    pub(crate) version: PrismVersion,
    /// The prism's latest version.
    pub(crate) latest: PrismVersion,
    pub(crate) lens: Vec<Column>,
    pub(crate) status: ResultStatus,
    /// When the result was saved, in ISO 8601.
    pub(crate) created_at: &'static str,
    pub(crate) fields: FieldValues,
}

/// Shows the texts when a property test fails; field values show only their lengths.
impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sample")
            .field("reference", &self.reference)
            .field("version", &self.version)
            .field("latest fields", &self.latest.fields())
            .field("lens", &self.lens)
            .field("status", &self.status)
            .field("fields", &self.fields.as_slice())
            .finish_non_exhaustive()
    }
}

impl Sample {
    pub(crate) fn columns(&self) -> RowColumns<'_> {
        RowColumns {
            fields: self.latest.fields(),
            lens: &self.lens,
        }
    }

    pub(crate) fn view(&self) -> ResultView<'_> {
        ResultView {
            id: self.id,
            reference: self.reference.as_deref(),
            prism: "support-triage",
            version: self.number,
            questions: self.version.questions(),
            status: &self.status,
            took_ms: 412,
            created_at: self.created_at.parse().unwrap(),
            fields: &self.fields,
        }
    }

    pub(crate) fn render(&self, format: Format) -> String {
        let mut out = Vec::new();
        render(format, &self.columns(), &self.view(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The row in csv or another format of rows, without the header.
    pub(crate) fn row(&self, format: Format) -> String {
        let body = self.render(format);
        match format {
            Format::Csv => body.split_once("\r\n").unwrap().1.to_owned(),
            Format::Tsv => body.split_once('\n').unwrap().1.to_owned(),
            Format::Json | Format::Raw | Format::Jsonl => body,
        }
    }

    /// The result under these lens columns.
    pub(crate) fn with_columns(mut self, columns: Value) -> Self {
        self.lens = read(columns);
        self
    }

    /// The result with another answer to one question.
    pub(crate) fn with_answer(mut self, question: &str, answer: Value) -> Self {
        let mut answers = self.status.answers().unwrap().as_slice().to_vec();
        let place = answers.iter_mut().find(|(key, _)| key.as_str() == question);
        place.unwrap().1 = read(answer);
        self.status = ResultStatus::Ok(Answers::new(answers));
        self
    }

    /// The result of a call that the model did not answer.
    pub(crate) fn failed(mut self, error: &str) -> Self {
        self.status = ResultStatus::Failed {
            error: error.to_owned(),
        };
        self
    }
}

/// An answered result of the prism in `version`, under the automatic lens.
pub(crate) fn sample() -> Sample {
    let version = version();
    let answers = Answers::new(vec![
        (
            read(json!("topic")),
            read_text(
                r#"{"type": "choice", "value": "delivery", "confidence": 0.9, "probabilities":
                    {"billing": 0.3, "delivery": 0.62, "other": 0.000001, "insufficient_information": 0.079999}}"#,
            ),
        ),
        (
            read(json!("angry")),
            read_text(r#"{"type": "yes_no", "probability": 0.45}"#),
        ),
        (
            read(json!("urgency")),
            read_text(
                r#"{"type": "scale", "level": "today", "probabilities":
                    {"can_wait": 0.25, "this_week": 0.25, "today": 0.5}}"#,
            ),
        ),
    ]);
    Sample {
        id: ResultId::parse("0190b8f2-0000-7000-8000-0000000000aa").unwrap(),
        reference: Some("order 7".to_owned()),
        number: VersionNumber::new(3).unwrap(),
        lens: version.columns(&Lens::Automatic).to_vec(),
        latest: version.clone(),
        version,
        status: ResultStatus::Ok(answers),
        created_at: "2026-05-04T09:08:07.060Z",
        fields: read(json!({ "text": "Where is it?" })),
    }
}

fn version() -> PrismVersion {
    read(json!({
        "fields": [{ "key": "text", "label": "Message" }],
        "questions": [
            { "key": "topic", "type": "choice", "text": "What is it about?", "options": [
                { "key": "billing", "label": "Billing" },
                { "key": "delivery", "label": "Delivery, late" },
            ] },
            { "key": "angry", "type": "yes_no", "text": "Is the writer angry?" },
            { "key": "urgency", "type": "scale", "text": "How urgent is it?", "levels": [
                { "key": "can_wait", "label": "Can wait" },
                { "key": "this_week", "label": "This week" },
                { "key": "today", "label": "=Today" },
            ] },
        ],
    }))
}

pub(crate) fn read<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).unwrap()
}

/// Reads JSON from a text, keeping the order of object keys.
pub(crate) fn read_text<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).unwrap()
}
