//! Keys of fields, questions, options and levels, and names of lens columns.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::{COLUMN_NAME_CHARS, KEY_CHARS};
use crate::problem::Fault;
use crate::text::{ascii_prefix, ascii_words};

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

fn snake_case(text: &str, most: usize) -> Result<(), Fault> {
    if is_snake_case(text, most) {
        return Ok(());
    }
    Err(Fault::rule(format!(
        "must be a lowercase letter, then up to {} lowercase letters, digits or underscores",
        most - 1
    )))
}

fn not_reserved(text: &str) -> Result<(), Fault> {
    // spec 2.2: the row names and `context`
    if text == "context" || ROW_NAMES.contains(&text) {
        return Err(Fault::rule("is a reserved key"));
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
            pub fn parse(text: &str) -> Result<Self, Fault> {
                Self::try_from(Box::from(text))
            }

            /// The key as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<Box<str>> for $name {
            type Error = Fault;

            fn try_from(text: Box<str>) -> Result<Self, Fault> {
                snake_case(&text, $most)?;
                let rule: fn(&str) -> Result<(), Fault> = $rule;
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
            return Err(Fault::rule("is the name of a row column"));
        }
        Ok(())
    }
}

impl OutcomeKey {
    /// Whether this is the key of one of the two outcomes that every Choice question has.
    pub fn is_built_in(&self) -> bool {
        matches!(self.as_str(), OTHER | INSUFFICIENT_INFORMATION)
    }

    /// Makes a key from a label; `taken` tells which keys are in use.
    ///
    /// The words of the label are joined by `_`. The key is `option` when no letter or digit is
    /// left, and gets `option_` before a leading digit and `_2`, `_3`, … after a clash (readings).
    pub fn derive(label: &str, taken: impl Fn(&str) -> bool) -> Self {
        Self(derived(label, "option", taken))
    }
}

impl FieldKey {
    /// Makes a key from a field's label, as [`OutcomeKey::derive`] does, with `field` in place of
    /// `option`. No reserved key is made.
    pub fn derive(label: &str, taken: impl Fn(&str) -> bool) -> Self {
        let taken = |key: &str| taken(key) || not_reserved(key).is_err();
        Self(derived(label, "field", taken))
    }
}

impl QuestionKey {
    /// Makes a key from a question's text, as [`OutcomeKey::derive`] does, with `question` in place
    /// of `option`. No reserved key is made.
    pub fn derive(text: &str, taken: impl Fn(&str) -> bool) -> Self {
        let taken = |key: &str| taken(key) || not_reserved(key).is_err();
        Self(derived(text, "question", taken))
    }
}

/// The words of a text as a key that is not taken. `noun` stands where no letter or digit is left,
/// and before a leading digit.
fn derived(text: &str, noun: &str, taken: impl Fn(&str) -> bool) -> Box<str> {
    let joined = ascii_words(text).join("_");
    let base = match joined.bytes().next() {
        None => noun.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{noun}_{joined}"),
        Some(_) => joined,
    };
    let mut key = ascii_prefix(&base, KEY_CHARS)
        .trim_end_matches('_')
        .to_owned();
    let mut number: u32 = 1;
    while taken(&key) {
        number += 1;
        let suffix = format!("_{number}");
        key = format!("{}{suffix}", ascii_prefix(&base, KEY_CHARS - suffix.len()));
    }
    key.into_boxed_str()
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

    #[test]
    fn an_option_key_is_made_from_its_label() {
        let cases = [
            ("Billing", "billing"),
            ("  Crème brûlée, please!", "creme_brulee_please"),
            ("24 hours", "option_24_hours"),
            ("日本", "option"),
            ("", "option"),
        ];
        for (label, key) in cases {
            assert_eq!(
                OutcomeKey::derive(label, |_| false).as_str(),
                key,
                "{label}"
            );
        }
    }

    #[test]
    fn a_field_or_question_key_is_made_from_words_and_is_never_reserved() {
        assert_eq!(FieldKey::derive("Context", |_| false).as_str(), "context_2");
        assert_eq!(FieldKey::derive("日本", |_| false).as_str(), "field");
        let question = |text| QuestionKey::derive(text, |key| key == "text");
        assert_eq!(question("Is it 5 stars?").as_str(), "is_it_5_stars");
        assert_eq!(question("5 stars?").as_str(), "question_5_stars");
        assert_eq!(question("Status").as_str(), "status_2");
        assert_eq!(question("Text").as_str(), "text_2");
    }

    #[test]
    fn a_taken_option_key_gets_a_number() {
        let long = "x".repeat(200);
        assert_eq!(
            OutcomeKey::derive("A", |key| key == "a" || key == "a_2").as_str(),
            "a_3"
        );
        let derived = OutcomeKey::derive(&long, |key| key.len() == 64 && key.ends_with('x'));
        assert_eq!(derived.as_str(), format!("{}_2", "x".repeat(62)));
    }
}
