//! Keys of fields, questions, options and levels, and names of lens columns.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::{COLUMN_NAME_CHARS, KEY_CHARS};
use crate::problem::ValidationError;

/// Names of row columns that a lens column may not have (spec 2.5).
pub const ROW_NAMES: [&str; 6] = [
    "result_id",
    "ref",
    "version",
    "status",
    "error",
    "created_at",
];

/// Key of the outcome `other`, which every Choice question has (spec 2.3).
pub const OTHER: &str = "other";
/// Key of the outcome `insufficient_information`, which every Choice question has (spec 2.3).
pub const INSUFFICIENT_INFORMATION: &str = "insufficient_information";

/// Whether the text is a lowercase letter, then lowercase letters, digits or underscores, up to
/// `most` characters in all.
fn is_snake_case(text: &str, most: usize) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && text.len() <= most
}

fn snake_case(text: &str, most: usize) -> Result<(), ValidationError> {
    if is_snake_case(text, most) {
        return Ok(());
    }
    Err(ValidationError::rule(format!(
        "must be a lowercase letter, then up to {} lowercase letters, digits or underscores",
        most - 1
    )))
}

fn not_reserved(text: &str) -> Result<(), ValidationError> {
    // spec 2.2: the row names and `context`
    if text == "context" || ROW_NAMES.contains(&text) {
        return Err(ValidationError::rule("is a reserved key"));
    }
    Ok(())
}

macro_rules! key {
    ($(#[$doc:meta])* $name:ident, $most:expr, $rule:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "Box<str>")]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks a key.
            ///
            /// # Errors
            /// The rule that the text breaks.
            pub fn parse(text: &str) -> Result<Self, ValidationError> {
                Self::try_from(Box::from(text))
            }

            /// The key as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<Box<str>> for $name {
            type Error = ValidationError;

            fn try_from(text: Box<str>) -> Result<Self, ValidationError> {
                snake_case(&text, $most)?;
                let rule: fn(&str) -> Result<(), ValidationError> = $rule;
                rule(&text)?;
                Ok(Self(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

key! {
    /// Key of a prism's field; none of the reserved keys (spec 2.2).
    FieldKey, KEY_CHARS, not_reserved
}
key! {
    /// Key of a prism's question; none of the reserved keys (spec 2.3, readings).
    QuestionKey, KEY_CHARS, not_reserved
}
key! {
    /// Key of a possible outcome of a question: an option, a built-in outcome or a level.
    OutcomeKey, KEY_CHARS, |_| Ok(())
}
key! {
    /// Name of a lens column: unique in the lens, none of the row names (spec 2.5).
    ColumnName, COLUMN_NAME_CHARS, |text| {
        if ROW_NAMES.contains(&text) {
            return Err(ValidationError::rule("is the name of a row column"));
        }
        Ok(())
    }
}

impl OutcomeKey {
    /// Whether this is the key of a built-in outcome: `other` or `insufficient_information`.
    pub fn is_built_in(&self) -> bool {
        matches!(self.as_str(), OTHER | INSUFFICIENT_INFORMATION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_snake_case_up_to_64_characters() {
        let longest = format!("a{}", "b_1".repeat(21));
        assert_eq!(longest.len(), 64);
        for good in ["a", "text", "a_1_", &longest] {
            assert_eq!(FieldKey::parse(good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            "A",
            "1a",
            "_a",
            "a-b",
            "a b",
            "ä",
            &format!("{longest}x"),
            "a\n",
        ] {
            assert!(FieldKey::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn reserved_keys_are_refused_where_they_would_clash() {
        for reserved in ROW_NAMES {
            assert!(FieldKey::parse(reserved).is_err(), "{reserved}");
            assert!(QuestionKey::parse(reserved).is_err(), "{reserved}");
            assert!(ColumnName::parse(reserved).is_err(), "{reserved}");
            assert!(OutcomeKey::parse(reserved).is_ok(), "{reserved}");
        }
        assert!(FieldKey::parse("context").is_err());
        assert!(ColumnName::parse("context").is_ok());
    }
}
