//! The body of a create call, key by key in the order of the specification's table (spec 4.1).
//! Invalid values are reported in one list.

use refract_domain::json::{Json, JsonString, Object};
use refract_domain::limits::VERSION_MAX;
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_domain::problem::{Problems, ValidationError};
use refract_domain::submission::{
    CallContext, IdempotencyKey, Ref, SentFields, field_value_errors,
};
use refract_service::results::CreateCall;

/// Reads a body into the call for a prism. Unknown keys are ignored, whatever their values.
pub(super) fn read(
    body: Json<'_>,
    prism: Result<PrismSelector, InvalidValue>,
    problems: &mut Problems,
) -> Result<CreateCall, InvalidValue> {
    let body = body
        .into_object()
        .map_err(|error| InvalidValue::list(problems, "body", [error]))?;
    let fields = fields_or_text(&body, problems);
    let context = optional(&body, "context", problems, |json| {
        string(json, |sent| CallContext::parse(sent.text))
    });
    let reference = optional(&body, "ref", problems, |json| {
        string(json, |sent| Ref::parse(&sent.text))
    });
    let version = optional(&body, "version", problems, version);
    let idempotency_key = optional(&body, "idempotency_key", problems, |json| {
        string(json, |sent| IdempotencyKey::parse(&sent.text))
    });
    Ok(CreateCall {
        prism: prism?,
        fields: fields?,
        context: context?.flatten(),
        reference: reference?,
        version: version?,
        idempotency_key: idempotency_key?,
    })
}

/// Reads an optional key. A `null` counts as present, and is refused for its type.
fn optional<T>(
    body: &Object<'_>,
    key: &str,
    problems: &mut Problems,
    read: impl FnOnce(Json<'_>) -> Result<T, Vec<ValidationError>>,
) -> Result<Option<T>, InvalidValue> {
    let read = body.get(key).map(read).transpose();
    read.map_err(|errors| InvalidValue::list(problems, key, errors))
}

fn string<T>(
    json: Json<'_>,
    read: impl FnOnce(JsonString) -> Result<T, Vec<ValidationError>>,
) -> Result<T, Vec<ValidationError>> {
    let sent = json.into_string().map_err(|error| vec![error])?;
    let are_lost = sent.has_unpaired_surrogate;
    refuse_lost_characters(read(sent), are_lost)
}

/// Reads `fields`, or its shorthand `text` for a single field named `text`.
fn fields_or_text(body: &Object<'_>, problems: &mut Problems) -> Result<SentFields, InvalidValue> {
    match (body.get("fields"), body.get("text")) {
        (Some(fields), None) => read_fields(fields, problems),
        (None, Some(text)) => {
            let value =
                field_value(text).map_err(|errors| InvalidValue::list(problems, "text", errors))?;
            Ok(SentFields::new(vec![("text".to_owned(), value)]))
        }
        (Some(_), Some(_)) | (None, None) => {
            let error = ValidationError::rule("send either fields or text");
            Err(InvalidValue::list(problems, "fields", [error]))
        }
    }
}

fn read_fields(fields: Json<'_>, problems: &mut Problems) -> Result<SentFields, InvalidValue> {
    let fields = fields
        .into_object()
        .map_err(|error| InvalidValue::list(problems, "fields", [error]))?;
    let mut values = Vec::new();
    let mut invalid = None;
    for (key, value) in fields.iter() {
        match (key_error(key), field_value(value)) {
            (None, Ok(value)) => values.push((key.text.clone(), value)),
            (key_error, read) => {
                let errors = key_error.into_iter().chain(read.err().unwrap_or_default());
                invalid = Some(InvalidValue::list(
                    problems,
                    &format!("fields.{}", key.text),
                    errors,
                ));
            }
        }
    }
    invalid.map_or(Ok(SentFields::new(values)), Err)
}

/// The fault of a field's key. Any length is allowed: the key is compared with the version's later.
fn key_error(key: &JsonString) -> Option<ValidationError> {
    let is_forbidden = key.has_unpaired_surrogate || key.text.contains('\0');
    is_forbidden.then_some(ValidationError::ForbiddenCharacters)
}

fn field_value(json: Json<'_>) -> Result<String, Vec<ValidationError>> {
    string(json, |sent| {
        let errors = field_value_errors(&sent.text);
        if errors.is_empty() {
            Ok(sent.text)
        } else {
            Err(errors)
        }
    })
}

fn version(json: Json<'_>) -> Result<VersionNumber, Vec<ValidationError>> {
    let number = json.into_number().map_err(|error| vec![error])?;
    whole_number(number)
        .and_then(VersionNumber::new)
        .ok_or_else(|| version_errors(number))
}

/// Every fault of a number as a version number. A number beyond the range of a double is read as
/// infinite and counts as an integer, as all doubles above 2^53 do.
fn version_errors(number: f64) -> Vec<ValidationError> {
    let mut errors = Vec::new();
    if number.is_finite() && number.fract() != 0.0 {
        errors.push(ValidationError::NotAnInteger);
    }
    if number < 1.0 {
        errors.push(ValidationError::NumberTooSmall(1));
    }
    if number > f64::from(VERSION_MAX) {
        errors.push(ValidationError::NumberTooBig(VERSION_MAX.into()));
    }
    errors
}

/// The number as an integer, if it is a 32-bit integer.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "the standard library has no checked conversion from a float; the range is checked here"
)]
fn whole_number(number: f64) -> Option<i32> {
    let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number);
    (fits && number.fract() == 0.0).then_some(number as i32)
}

/// An invalid value, whose faults are in the list of problems already.
#[derive(Debug)]
pub(super) struct InvalidValue;

impl InvalidValue {
    /// Adds the faults of the value at `path` to the list.
    pub(super) fn list(
        problems: &mut Problems,
        path: &str,
        errors: impl IntoIterator<Item = ValidationError>,
    ) -> Self {
        problems.add_all(path, errors);
        Self
    }
}

/// The result of parsing a string. Characters lost in decoding make the string forbidden, as NUL
/// does, and that fault is listed last.
pub(super) fn refuse_lost_characters<T>(
    read: Result<T, Vec<ValidationError>>,
    are_lost: bool,
) -> Result<T, Vec<ValidationError>> {
    let mut errors = match read {
        Ok(value) if !are_lost => return Ok(value),
        Ok(_) => Vec::new(),
        Err(errors) => errors,
    };
    if are_lost && !errors.contains(&ValidationError::ForbiddenCharacters) {
        errors.push(ValidationError::ForbiddenCharacters);
    }
    Err(errors)
}
