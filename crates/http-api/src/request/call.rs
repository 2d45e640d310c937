//! Reads a call: path, `format` and body together, listing every problem in that order (spec 4.1).
//!
//! Body keys are read in the order of the specification's table, fields in the order sent, and
//! faults are worded as in zod 3 (readings, "Requests"). Headers are read elsewhere.

mod body;

use percent_encoding::percent_decode_str;
use refract_domain::ids::ResultId;
use refract_domain::json::{Json, JsonString, Object};
use refract_domain::limits::VERSION_MAX;
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_domain::problem::{Problems, ValidationError};
use refract_lens_rendering::Format;
use refract_service::results::CreateCall;

use self::body::{InvalidValue, refuse_lost_characters};

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
    let call = body::read(body, prism, &mut problems);
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

#[cfg(test)]
mod tests;
