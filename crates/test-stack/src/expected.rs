//! The exact bytes of the example prism's results, as the scripted model answers them.

use serde_json::Value;

use crate::http::answer::HttpAnswer;
use crate::service::{PRISM, TEXT, text};

/// The content type of `json` and `raw`.
pub const JSON: &str = "application/json; charset=utf-8";
/// The content type of `csv`.
pub const CSV: &str = "text/csv; charset=utf-8";
/// The content type of `tsv`.
pub const TSV: &str = "text/tab-separated-values; charset=utf-8";
/// The content type of `jsonl`.
pub const JSONL: &str = "application/x-ndjson; charset=utf-8";

/// The `answers` of an `ok` result through the automatic lens.
pub const ANSWERS: &str = r#"{"topic":"billing","angry":"yes","urgency":"can_wait"}"#;

/// The stored `answers` of an `ok` result, as `raw` shows them.
pub const STORED: &str = r#"{"topic":{"type":"choice","value":"billing","probabilities":{"billing":0.7,"delivery":0.075,"product":0.075,"other":0.075,"insufficient_information":0.075},"confidence":0.6},"angry":{"type":"yes_no","probability":0.8},"urgency":{"type":"scale","level":"can_wait","probabilities":{"can_wait":0.7,"this_week":0.15,"today":0.15}}}"#;

/// A result of the example prism, with the values that only an answer reveals: id and times.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The id of the result.
    pub id: String,
    /// The `ref` of the call, if it had one.
    pub reference: Option<String>,
    /// The version of the prism that was asked.
    pub version: u64,
    /// The error of a failed result.
    pub error: Option<String>,
    took_ms: u64,
    created_at: String,
}

impl Saved {
    /// Reads a result from an answer in `json` or `raw`, and checks the shapes of id and time.
    #[track_caller]
    pub fn of(answer: &HttpAnswer) -> Self {
        let body = answer.value();
        let saved = Self {
            id: text(&body, "id"),
            reference: body["ref"].as_str().map(str::to_owned),
            version: body["version"].as_u64().unwrap(),
            error: body["error"].as_str().map(str::to_owned),
            took_ms: body["took_ms"].as_u64().expect("whole milliseconds"),
            created_at: text(&body, "created_at"),
        };
        assert!(is_uuid_v7(&saved.id), "{answer:?}");
        assert!(is_moment(&saved.created_at), "{answer:?}");
        saved
    }

    /// The JSON envelope of the result with these `answers`.
    pub fn envelope(&self, answers: &str) -> String {
        let quoted = |text: &Option<String>| Value::from(text.clone()).to_string();
        let status = if self.error.is_none() { "ok" } else { "failed" };
        format!(
            r#"{{"id":"{}","ref":{},"prism":"{PRISM}","version":{},"status":"{status}","error":{},"took_ms":{},"created_at":"{}","answers":{answers}}}"#,
            self.id,
            quoted(&self.reference),
            self.version,
            quoted(&self.error),
            self.took_ms,
            self.created_at,
        )
    }

    /// The media type and body in a format, for a result of [`TEXT`] through the automatic lens.
    pub fn in_format(&self, format: &str) -> (&'static str, String) {
        let is_ok = self.error.is_none();
        match format {
            "json" => (JSON, self.envelope(if is_ok { ANSWERS } else { "null" })),
            "raw" => (JSON, self.envelope(if is_ok { STORED } else { "null" })),
            "csv" => (CSV, self.rows(",", "\r\n")),
            "tsv" => (TSV, self.rows("\t", "\n")),
            "jsonl" => (JSONL, self.json_line()),
            other => panic!("no format: {other}"),
        }
    }

    fn rows(&self, separator: &str, end: &str) -> String {
        let header = "result_id,ref,version,status,error,created_at,text,topic,angry,urgency";
        let version = self.version.to_string();
        let error = self.error.clone().unwrap_or_default();
        let is_ok = self.error.is_none();
        let row = [
            self.id.as_str(),
            self.reference.as_deref().unwrap_or_default(),
            &version,
            if is_ok { "ok" } else { "failed" },
            &error,
            &self.created_at,
            TEXT,
            if is_ok { "Billing" } else { "" },
            if is_ok { "Yes" } else { "" },
            if is_ok { "Can wait" } else { "" },
        ];
        let header = header.replace(',', separator);
        format!("{header}{end}{}{end}", row.join(separator))
    }

    fn json_line(&self) -> String {
        let quoted = |text: &Option<String>| Value::from(text.clone()).to_string();
        let (status, answers) = match self.error {
            None => (
                "ok",
                r#""topic":"billing","angry":"yes","urgency":"can_wait""#,
            ),
            Some(_) => ("failed", r#""topic":null,"angry":null,"urgency":null"#),
        };
        format!(
            "{{\"result_id\":\"{}\",\"ref\":{},\"version\":{},\"status\":\"{status}\",\"error\":{},\"created_at\":\"{}\",\"text\":\"{TEXT}\",{answers}}}\n",
            self.id,
            quoted(&self.reference),
            self.version,
            quoted(&self.error),
            self.created_at,
        )
    }
}

/// The result's id in an answer of this format.
#[track_caller]
pub fn id_in(answer: &HttpAnswer, format: &str) -> String {
    match format {
        "json" | "raw" => Saved::of(answer).id,
        "jsonl" => text(&answer.value(), "result_id"),
        _ => {
            let row = answer.body.lines().nth(1).expect(&answer.body);
            row.split([',', '\t']).next().unwrap().to_owned()
        }
    }
}

/// The id of the earlier retry that a refused retry names.
#[track_caller]
pub fn retried_as(refused: &HttpAnswer) -> String {
    let words = refused.body.split([' ', '.']);
    let mut ids = words.filter(|word| is_uuid_v7(word));
    ids.next().expect(&refused.body).to_owned()
}

fn is_uuid_v7(id: &str) -> bool {
    let shape = "xxxxxxxx-xxxx-7xxx-yxxx-xxxxxxxxxxxx";
    has_shape(id, shape, |sign, of_shape| match of_shape {
        'x' => matches!(sign, '0'..='9' | 'a'..='f'),
        'y' => "89ab".contains(sign),
        other => sign == other,
    })
}

fn is_moment(moment: &str) -> bool {
    has_shape(
        moment,
        "0000-00-00T00:00:00.000Z",
        |sign, of_shape| match of_shape {
            '0' => sign.is_ascii_digit(),
            other => sign == other,
        },
    )
}

fn has_shape(text: &str, shape: &str, fits: impl Fn(char, char) -> bool) -> bool {
    text.len() == shape.len()
        && text
            .chars()
            .zip(shape.chars())
            .all(|(sign, of_shape)| fits(sign, of_shape))
}
