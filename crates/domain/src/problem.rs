//! What is wrong with something sent, and where: the words of a refusal (spec 7).
//!
//! The words are zod 3's for the same fault. They name paths and limits, never a value sent.

use std::fmt;

/// One fault of one value, worded as zod 3 words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A required key is absent.
    Required,
    /// A value of another JSON type than the expected one.
    Expected {
        /// The type that is right.
        expected: &'static str,
        /// The type that was sent.
        received: &'static str,
    },
    /// A string over this many characters.
    StringTooLong(usize),
    /// A string under this many characters.
    StringTooShort(usize),
    /// A number that is not whole.
    NotAnInteger,
    /// A number under this one.
    NumberTooSmall(i64),
    /// A number over this one.
    NumberTooBig(i64),
    /// A list over this many elements.
    ArrayTooLong(usize),
    /// A list under this many elements.
    ArrayTooShort(usize),
    /// A string with NUL or an unpaired surrogate in it.
    ForbiddenCharacters,
    /// None of the values that are allowed, which are listed.
    NotOneOf(&'static [&'static str]),
    /// Keys that an object of this kind does not have.
    UnrecognizedKeys(Vec<String>),
    /// Text that is no UUID.
    InvalidUuid,
    /// A rule of Refract's own, in words.
    Rule(String),
}

impl Fault {
    /// A rule of Refract's own, in words that name no value sent.
    pub fn rule(words: impl Into<String>) -> Self {
        Self::Rule(words.into())
    }
}

impl fmt::Display for Fault {
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

/// A fault and the path of the value that has it, such as `questions.0.key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Keys and positions joined with dots.
    pub path: String,
    /// What is wrong there.
    pub fault: Fault,
}

/// Everything that is wrong with one thing sent, in the order in which it is reported.
///
/// Displayed as the message of the specification: `Invalid request: <path>: <problem>`, several
/// joined with `; `.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// A list with one problem.
    pub fn one(path: impl Into<String>, fault: Fault) -> Self {
        Self(vec![Problem {
            path: path.into(),
            fault,
        }])
    }

    /// Adds a problem at the end.
    pub fn add(&mut self, path: impl Into<String>, fault: Fault) {
        self.0.push(Problem {
            path: path.into(),
            fault,
        });
    }

    /// Adds several faults of one value, in order.
    pub fn add_all(&mut self, path: &str, faults: impl IntoIterator<Item = Fault>) {
        self.0.extend(faults.into_iter().map(|fault| Problem {
            path: path.to_owned(),
            fault,
        }));
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `value` when there is no problem.
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
            .map(|problem| format!("{}: {}", problem.path, problem.fault));
        write_joined(f, problems, "; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_joined_in_order() {
        let mut problems = Problems::one("version", Fault::NotAnInteger);
        problems.add("format", Fault::NotOneOf(&["json", "raw"]));
        problems.add_all("x", [Fault::StringTooLong(3), Fault::ForbiddenCharacters]);
        assert_eq!(
            problems.to_string(),
            "Invalid request: version: Expected integer, received float; \
             format: Expected 'json' | 'raw'; \
             x: String must contain at most 3 character(s); \
             x: must not contain NUL or unpaired surrogate characters"
        );
    }
}
