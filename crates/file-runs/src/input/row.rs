//! A row of a file, checked by the rules for a request body of the API.

use refract_domain::prism::PrismVersion;
use refract_domain::problem::{Problems, ValidationError};
use refract_domain::submission::{
    CallContext, FieldValues, Ref, Submission, budget, field_value_errors,
};

use crate::gold::GoldCells;
use crate::input::{RawRow, RawValue};

/// A checked row.
#[derive(Debug)]
pub(crate) struct InputRow {
    /// The line on which the row begins, from 1.
    pub(crate) line: u64,
    /// The row's number in the file, from 1.
    pub(crate) number: u64,
    /// The row's values, or why the row is refused; the reason repeats none of its values.
    pub(crate) content: Result<RowContent, String>,
    /// The row's cells in all columns of the file, if they are [kept](super::rows::KeptCells).
    pub(crate) cells: Vec<String>,
    /// The correct answers of a gold file; empty in a plain file run.
    pub(crate) gold: GoldCells,
}

/// The values of an accepted row.
#[derive(Debug)]
pub(crate) struct RowContent {
    pub(crate) submission: Submission,
    pub(crate) reference: Option<Ref>,
}

impl InputRow {
    /// Checks the values of a row: one for each field of the version, then `ref` and `context`,
    /// then one for each question of a gold file.
    pub(crate) fn read(raw: RawRow, number: u64, version: &PrismVersion) -> Self {
        let mut values = raw.values.into_iter();
        Self {
            line: raw.line,
            number,
            content: read(&mut values, version),
            cells: Vec::new(),
            gold: GoldCells::read(values, version.questions()),
        }
    }

    /// Number of bytes in the row's fields and context, if it is accepted, and in its kept cells.
    pub(crate) fn bytes(&self) -> usize {
        let cells: usize = self.cells.iter().map(String::len).sum();
        let Ok(content) = &self.content else {
            return cells;
        };
        let fields = content.submission.fields().iter();
        let fields: usize = fields.map(|(_, value)| value.len()).sum();
        fields + content.submission.context().map_or(0, str::len) + cells
    }
}

/// Takes the values of the fields, `ref` and `context`.
fn read(
    values: &mut impl Iterator<Item = RawValue>,
    version: &PrismVersion,
) -> Result<RowContent, String> {
    let mut problems = Problems::default();
    let mut fields = Vec::with_capacity(version.fields().len());
    for field in version.fields() {
        let path = format!("fields.{}", field.key);
        if let Some(text) = text(values.next(), &path, &mut problems) {
            problems.add_all(&path, field_value_errors(&text));
            fields.push((field.key.clone(), text));
        }
    }
    let reference = text_or_nothing(values.next().map(RawValue::naming), "ref", &mut problems)
        .and_then(|text| parsed(Ref::parse(&text), "ref", &mut problems));
    let context = text_or_nothing(values.next(), "context", &mut problems)
        .and_then(|text| parsed(CallContext::parse(text), "context", &mut problems));
    if !problems.is_empty() {
        let words = problems.to_string();
        let words = words.strip_prefix("Invalid request: ").unwrap_or(&words);
        return Err(words.to_owned());
    }
    let submission = Submission::saved(FieldValues::new(fields), context.flatten());
    budget::check(version, &submission).map_err(|over| over.to_string())?;
    Ok(RowContent {
        submission,
        reference,
    })
}

/// The text of a required value.
fn text(value: Option<RawValue>, path: &str, problems: &mut Problems) -> Option<String> {
    let no_string = |received| ValidationError::Expected {
        expected: "string",
        received,
    };
    let error = match value {
        Some(RawValue::Text {
            text,
            has_unpaired_surrogate: false,
        }) => return Some(text),
        Some(RawValue::Text { .. }) => ValidationError::ForbiddenCharacters,
        Some(RawValue::Scalar { type_name, .. }) => no_string(type_name),
        Some(RawValue::NoText(received)) => no_string(received),
        Some(RawValue::Absent { is_null: true }) => no_string("null"),
        Some(RawValue::Absent { is_null: false }) | None => ValidationError::Required,
    };
    problems.add(path, error);
    None
}

/// The text of an optional value; `None` for null, an absent value and a blank cell.
fn text_or_nothing(value: Option<RawValue>, path: &str, problems: &mut Problems) -> Option<String> {
    let value = value.filter(|value| !matches!(value, RawValue::Absent { .. }))?;
    text(Some(value), path, problems).filter(|text| !text.trim().is_empty())
}

fn parsed<T>(
    parsed: Result<T, Vec<ValidationError>>,
    path: &str,
    problems: &mut Problems,
) -> Option<T> {
    parsed.map_err(|errors| problems.add_all(path, errors)).ok()
}
