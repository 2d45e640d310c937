//! Rules about the length and the characters of a text.

use std::ops::RangeInclusive;

use crate::problem::ValidationError;

/// The faults of a text in the order of zod 3: length, then characters.
pub fn errors(text: &str, chars: &RangeInclusive<usize>) -> Vec<ValidationError> {
    let mut errors = Vec::new();
    let length = text.chars().count();
    if length < *chars.start() {
        errors.push(ValidationError::StringTooShort(*chars.start()));
    }
    if length > *chars.end() {
        errors.push(ValidationError::StringTooLong(*chars.end()));
    }
    if text.contains('\0') {
        errors.push(ValidationError::ForbiddenCharacters);
    }
    errors
}
