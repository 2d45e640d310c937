//! Members of JSON objects, read with the path of what is wrong.

use std::str::FromStr;

use refract_domain::json::{Json, Object};
use refract_domain::problem::ValidationError;

use super::error::RawResultError;

/// The value under a key.
pub(super) fn required<'a>(
    object: &Object<'a>,
    path: &str,
    key: &str,
) -> Result<Json<'a>, RawResultError> {
    let value = object.get(key);
    value.ok_or_else(|| wrong(path, key, ValidationError::Required))
}

/// The text under a key.
pub(super) fn string(object: &Object<'_>, path: &str, key: &str) -> Result<String, RawResultError> {
    let string = required(object, path, key)?.into_string();
    match string {
        Ok(string) if !string.has_unpaired_surrogate => Ok(string.text),
        Ok(_) => Err(wrong(path, key, ValidationError::ForbiddenCharacters)),
        Err(error) => Err(wrong(path, key, error)),
    }
}

/// The text under a key that must be there and may be null.
pub(super) fn optional_string(
    object: &Object<'_>,
    path: &str,
    key: &str,
) -> Result<Option<String>, RawResultError> {
    if matches!(required(object, path, key)?, Json::Null) {
        return Ok(None);
    }
    string(object, path, key).map(Some)
}

/// The value as an object.
pub(super) fn object_of<'a>(json: Json<'a>, path: &str) -> Result<Object<'a>, RawResultError> {
    json.into_object().map_err(|error| wrong(path, "", error))
}

/// The fault of the value under a key, or of the value at the path where the key is empty.
pub(super) fn wrong(path: &str, key: &str, error: ValidationError) -> RawResultError {
    let dot = if path.is_empty() || key.is_empty() {
        ""
    } else {
        "."
    };
    RawResultError::Value {
        path: format!("{path}{dot}{key}"),
        error,
    }
}

/// The whole number under a key, in the range of its type.
pub(super) fn whole_number<N: FromStr>(
    object: &Object<'_>,
    key: &str,
) -> Result<N, RawResultError> {
    let number = required(object, "", key)?.into_number();
    let number = number.map_err(|error| wrong("", key, error))?;
    let written = object.written(key).and_then(|text| text.parse().ok());
    written.ok_or_else(|| {
        let error = if number.fract() == 0.0 {
            ValidationError::rule("must not be negative or so large")
        } else {
            ValidationError::NotAnInteger
        };
        wrong("", key, error)
    })
}
