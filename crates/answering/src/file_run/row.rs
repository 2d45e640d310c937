//! A row of the file as a call: its values checked as the API checks them.

use refract_domain::budget;
use refract_domain::prism::PrismVersion;
use refract_domain::problem::{Fault, Problems};
use refract_domain::reference::Ref;
use refract_domain::submission::{CallContext, FieldValues, Submission, field_value_faults};

use super::input::{RawRow, RawValue};

/// A row that is to be asked about, or is refused.
#[derive(Debug)]
pub(crate) struct Row {
    /// Line of its beginning, from 1.
    pub(crate) line: u64,
    /// Its place among the rows, from 1.
    pub(crate) number: u64,
    /// What it asks, or why it is refused, in words that repeat nothing of it.
    pub(crate) content: Result<RowContent, String>,
}

/// What a row asks.
#[derive(Debug)]
pub(crate) struct RowContent {
    pub(crate) submission: Submission,
    pub(crate) reference: Option<Ref>,
}

impl Row {
    /// Reads the values, which are those of the version's fields, then `ref` and `context`.
    pub(crate) fn read(raw: RawRow, number: u64, version: &PrismVersion) -> Self {
        Self {
            line: raw.line,
            number,
            content: read(raw.values, version),
        }
    }

    /// Bytes of text in it, about.
    pub(crate) fn bytes(&self) -> usize {
        let Ok(content) = &self.content else {
            return 0;
        };
        let fields = content.submission.fields().iter();
        let fields: usize = fields.map(|(_, value)| value.len()).sum();
        fields + content.submission.context().map_or(0, str::len)
    }
}

fn read(values: Vec<RawValue>, version: &PrismVersion) -> Result<RowContent, String> {
    let mut values = values.into_iter();
    let mut problems = Problems::default();
    let mut fields = Vec::with_capacity(version.fields().len());
    for field in version.fields() {
        let path = format!("fields.{}", field.key);
        if let Some(text) = text(values.next(), &path, &mut problems) {
            problems.add_all(&path, field_value_faults(&text));
            fields.push((field.key.clone(), text));
        }
    }
    let reference = text_or_nothing(values.next(), "ref", &mut problems)
        .and_then(|text| parsed(Ref::parse(&text), "ref", &mut problems));
    let context = text_or_nothing(values.next(), "context", &mut problems)
        .and_then(|text| parsed(CallContext::parse(text), "context", &mut problems));
    if !problems.is_empty() {
        let words = problems.to_string();
        let words = words.strip_prefix("Invalid request: ").unwrap_or(&words);
        return Err(words.to_owned());
    }
    let submission = Submission::saved(FieldValues(fields), context.flatten());
    budget::check(version, &submission).map_err(|over| over.to_string())?;
    Ok(RowContent {
        submission,
        reference,
    })
}

/// A value that has to be there.
fn text(value: Option<RawValue>, path: &str, problems: &mut Problems) -> Option<String> {
    let no_string = |received| Fault::Expected {
        expected: "string",
        received,
    };
    let fault = match value {
        Some(RawValue::Text {
            text,
            has_unpaired_surrogate: false,
        }) => return Some(text),
        Some(RawValue::Text { .. }) => Fault::ForbiddenCharacters,
        Some(RawValue::NoText(received)) => no_string(received),
        Some(RawValue::Absent { is_null: true }) => no_string("null"),
        Some(RawValue::Absent { is_null: false }) | None => Fault::Required,
    };
    problems.add(path, fault);
    None
}

/// A value that may be left out: an empty cell and null are no value.
fn text_or_nothing(value: Option<RawValue>, path: &str, problems: &mut Problems) -> Option<String> {
    let value = value.filter(|value| !matches!(value, RawValue::Absent { .. }))?;
    text(Some(value), path, problems).filter(|text| !text.trim().is_empty())
}

fn parsed<T>(parsed: Result<T, Vec<Fault>>, path: &str, problems: &mut Problems) -> Option<T> {
    parsed.map_err(|faults| problems.add_all(path, faults)).ok()
}
