//! Reads a call: path, `format` and body together, listing every problem in that order (spec 4.1).
//!
//! Body keys are read in the order of the specification's table, fields in the order sent, and
//! faults are worded as in zod 3 (readings, "Requests"). Headers are read elsewhere.

use percent_encoding::percent_decode_str;
use refract_domain::ids::ResultId;
use refract_domain::json::{Json, JsonString, Object};
use refract_domain::limits::VERSION_MAX;
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_domain::problem::{Problems, ValidationError};
use refract_domain::submission::{
    CallContext, IdempotencyKey, Ref, SentFields, field_value_errors,
};
use refract_lens_rendering::Format;
use refract_service::results::CreateCall;

/// Reads a create call from the raw `{prism}`, the raw query and the body's JSON value.
///
/// # Errors
/// Every problem of the path, then of the query, then of the body.
pub(crate) fn create(
    prism: &str,
    query: &str,
    body: Json<'_>,
) -> Result<(CreateCall, Format), Problems> {
    let mut problems = Problems::default();
    let prism = read_prism(prism, &mut problems);
    let format = read_format(query, &mut problems);
    let call = read(body, prism, &mut problems);
    let (Ok(call), Ok(format)) = (call, format) else {
        return Err(problems);
    };
    Ok((call, format))
}

/// Reads a call about one result from the raw `{result_id}` and the raw query.
///
/// # Errors
/// Every problem of the path, then of the query.
pub(crate) fn of_result(result_id: &str, query: &str) -> Result<(ResultId, Format), Problems> {
    let mut problems = Problems::default();
    let id = read_result_id(result_id, &mut problems);
    let format = read_format(query, &mut problems);
    let (Ok(id), Ok(format)) = (id, format) else {
        return Err(problems);
    };
    Ok((id, format))
}

/// Reads `{prism}`: decodes the percent-encoding, then checks the length. Bytes that are not UTF-8
/// are refused as NUL is (readings).
fn read_prism(raw: &str, problems: &mut Problems) -> Result<PrismSelector, InvalidValue> {
    let decoded = percent_decode_str(raw);
    let are_lost = decoded.clone().decode_utf8().is_err();
    let read = PrismSelector::parse(&decoded.decode_utf8_lossy());
    refuse_lost_characters(read, are_lost)
        .map_err(|errors| InvalidValue::list(problems, "prism", errors))
}

/// Reads `{result_id}` after decoding the percent-encoding.
fn read_result_id(raw: &str, problems: &mut Problems) -> Result<ResultId, InvalidValue> {
    let decoded = percent_decode_str(raw).decode_utf8_lossy();
    ResultId::parse(&decoded)
        .ok_or_else(|| InvalidValue::list(problems, "result_id", [ValidationError::InvalidUuid]))
}

/// Reads `format` from the query. An empty value counts as absent; two different values are an
/// unknown format (readings).
fn read_format(query: &str, problems: &mut Problems) -> Result<Format, InvalidValue> {
    let parameters = form_urlencoded::parse(query.as_bytes());
    let mut values = parameters.filter_map(|(name, value)| (name == "format").then_some(value));
    let first = values.next().unwrap_or_default();
    let format = if first.is_empty() {
        Some(Format::default())
    } else {
        Format::parse(&first)
    };
    format
        .filter(|_| values.all(|other| other == first))
        .ok_or_else(|| {
            InvalidValue::list(
                problems,
                "format",
                [ValidationError::NotOneOf(&Format::NAMES)],
            )
        })
}

/// Reads a body into the call for a prism. Unknown keys are ignored, whatever their values.
fn read(
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
struct InvalidValue;

impl InvalidValue {
    /// Adds the faults of the value at `path` to the list.
    fn list(
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
fn refuse_lost_characters<T>(
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

#[cfg(test)]
mod tests;
