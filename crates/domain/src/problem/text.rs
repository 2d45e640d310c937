//! Rules about the length and the characters of a text.

use std::ops::RangeInclusive;

use crate::problem::Fault;

/// The faults of a text whose length in code points must be in `chars`, in the order of zod 3:
/// length, then forbidden characters.
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
