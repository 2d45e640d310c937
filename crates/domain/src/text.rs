//! Rules about the length and the characters of a text.

use std::ops::RangeInclusive;

use crate::problem::Fault;

/// The faults of a text in the order of zod 3: length, then characters.
pub fn faults(text: &str, chars: &RangeInclusive<usize>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let length = text.chars().count();
    if length < *chars.start() {
        faults.push(Fault::StringTooShort(*chars.start()));
    }
    if length > *chars.end() {
        faults.push(Fault::StringTooLong(*chars.end()));
    }
    if text.contains('\0') {
        faults.push(Fault::ForbiddenCharacters);
    }
    faults
}

/// The words of a text in lower case ASCII letters and digits; accents are dropped.
pub(crate) fn ascii_words(text: &str) -> Vec<String> {
    use unicode_normalization::UnicodeNormalization as _;
    use unicode_normalization::char::is_combining_mark;

    let plain: String = text
        .to_lowercase()
        .nfd()
        .filter(|c| !is_combining_mark(*c))
        .collect();
    plain
        .split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The first `bytes` bytes of an ASCII text, or the whole text when it is shorter.
pub(crate) fn ascii_prefix(text: &str, bytes: usize) -> &str {
    text.get(..bytes).unwrap_or(text)
}
