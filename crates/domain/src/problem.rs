//! Problems of an input: what is wrong and where, worded for the response (spec 7).
//!
//! The wording follows zod 3. It names paths and limits, never a value that was sent.

use std::fmt;

/// One fault of one value, worded as zod 3 words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValidationError {
    /// A required key is absent.
    Required,
    /// A value has another JSON type than the expected one.
    Expected {
        /// The expected type.
        expected: &'static str,
        /// The type that was sent.
        received: &'static str,
    },
    /// A string has more characters than this.
    StringTooLong(usize),
    /// A string has fewer characters than this.
    StringTooShort(usize),
    /// A number is not whole.
    NotAnInteger,
    /// A number is below this one.
    NumberTooSmall(i64),
    /// A number is above this one.
    NumberTooBig(i64),
    /// A list has more elements than this.
    ArrayTooLong(usize),
    /// A list has fewer elements than this.
    ArrayTooShort(usize),
    /// A string contains NUL or an unpaired surrogate.
    ForbiddenCharacters,
    /// A value is not one of the allowed values, which are listed.
    NotOneOf(&'static [&'static str]),
    /// An object has keys that it must not have.
    UnrecognizedKeys(Vec<String>),
    /// A text is not a UUID.
    InvalidUuid,
    /// A value breaks a rule for which zod has no wording.
    Rule(String),
}

impl ValidationError {
    /// A fault in Refract's wording, which must not contain a value that was sent.
    pub fn rule(words: impl Into<String>) -> Self {
        Self::Rule(words.into())
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => f.write_str("Required"),
            Self::Expected { expected, received } => {
                write!(f, "Expected {expected}, received {received}")
            }
            Self::StringTooLong(max) => {
                write!(f, "String must contain at most {max} character(s)")
            }
            Self::StringTooShort(min) => {
                write!(f, "String must contain at least {min} character(s)")
            }
            Self::NotAnInteger => f.write_str("Expected integer, received float"),
            Self::NumberTooSmall(min) => {
                write!(f, "Number must be greater than or equal to {min}")
            }
            Self::NumberTooBig(max) => write!(f, "Number must be less than or equal to {max}"),
            Self::ArrayTooLong(max) => write!(f, "Array must contain at most {max} element(s)"),
            Self::ArrayTooShort(min) => write!(f, "Array must contain at least {min} element(s)"),
            Self::ForbiddenCharacters => {
                f.write_str("must not contain NUL or unpaired surrogate characters")
            }
            Self::NotOneOf(allowed) => {
                f.write_str("Expected ")?;
                write_joined(f, allowed.iter().map(|value| format!("'{value}'")), " | ")
            }
            Self::UnrecognizedKeys(keys) => {
                f.write_str("Unrecognized key(s) in object: ")?;
                write_joined(f, keys.iter().map(|key| format!("'{key}'")), ", ")
            }
            Self::InvalidUuid => f.write_str("Invalid uuid"),
            Self::Rule(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for ValidationError {}

fn write_joined(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = String>,
    separator: &str,
) -> fmt::Result {
    for (index, item) in items.enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        f.write_str(&item)?;
    }
    Ok(())
}

/// A fault and the path of its value, such as `questions.0.key`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Keys and positions, joined with dots.
    pub path: String,
    /// What is wrong with the value.
    pub error: ValidationError,
}

/// All problems of one request or file, in the order in which they are reported.
///
/// Displayed as the specification's message, `Invalid request: <path>: <problem>`, with `; `
/// between problems.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// A list with one problem.
    pub fn one(path: impl Into<String>, error: ValidationError) -> Self {
        Self(vec![Problem {
            path: path.into(),
            error,
        }])
    }

    /// Adds a problem at the end.
    pub fn add(&mut self, path: impl Into<String>, error: ValidationError) {
        self.0.push(Problem {
            path: path.into(),
            error,
        });
    }

    /// Adds several faults of one value, in order.
    pub fn add_all(&mut self, path: &str, errors: impl IntoIterator<Item = ValidationError>) {
        self.0.extend(errors.into_iter().map(|error| Problem {
            path: path.to_owned(),
            error,
        }));
    }

    /// The problems in the order in which they are reported.
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `value` when there are no problems.
    ///
    /// # Errors
    /// The problems, when there are any.
    pub fn none_or<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Invalid request: ")?;
        let problems = self
            .0
            .iter()
            .map(|problem| format!("{}: {}", problem.path, problem.error));
        write_joined(f, problems, "; ")
    }
}

/// Rules about the length and the characters of a text.
pub mod text {
    use std::ops::RangeInclusive;

    use super::ValidationError;

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_joined_in_order() {
        let mut problems = Problems::one("version", ValidationError::NotAnInteger);
        problems.add("format", ValidationError::NotOneOf(&["json", "raw"]));
        problems.add_all(
            "x",
            [
                ValidationError::StringTooLong(3),
                ValidationError::ForbiddenCharacters,
            ],
        );
        assert_eq!(
            problems.to_string(),
            "Invalid request: version: Expected integer, received float; \
             format: Expected 'json' | 'raw'; \
             x: String must contain at most 3 character(s); \
             x: must not contain NUL or unpaired surrogate characters"
        );
    }
}
