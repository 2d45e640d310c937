//! Invalid values of a call, whose faults are reported in one list.

use refract_domain::problem::{Problems, ValidationError};

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
