//! Rules about the length and the characters of a text.

use std::ops::RangeInclusive;

use crate::problem::ValidationError;

/// Whether a character takes no width or changes the reading direction, so that two texts look the
/// same and are not: those that Unicode ignores by default, line and paragraph separators, and
/// annotations.
pub fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

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
