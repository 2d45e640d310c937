//! Submissions: the field values and the context of one call.

pub mod budget;
pub mod model_input;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_with::{As, Map, Same};

use crate::key::FieldKey;
use crate::limits::{CALL_CONTEXT_CHARS, FIELD_VALUE_CHARS, IDEMPOTENCY_KEY_CHARS, REF_CHARS};
use crate::prism::Field;
use crate::problem::{ValidationError, text};

/// The faults of a field value's length and characters (spec 8).
pub fn field_value_errors(value: &str) -> Vec<ValidationError> {
    text::errors(value, &(0..=FIELD_VALUE_CHARS))
}

/// The context of one call, as it was sent; never blank (spec 4.1).
#[derive(Clone, PartialEq, Eq)]
pub struct CallContext(String);

impl CallContext {
    /// Checks a context; `None` for a blank one. The length limit applies to blank contexts too.
    ///
    /// # Errors
    /// The faults of the text's length and characters.
    pub fn parse(text: String) -> Result<Option<Self>, Vec<ValidationError>> {
        let errors = text::errors(&text, &(0..=CALL_CONTEXT_CHARS));
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Self::saved(text))
    }

    /// A context read from the database, which is not checked again; `None` for a blank one.
    pub fn saved(text: String) -> Option<Self> {
        if text.trim().is_empty() {
            None
        } else {
            Some(Self(text))
        }
    }

    /// The context as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Field values as sent, before they are [matched](FieldValues::matched) with a prism version.
///
/// A request's `text` is short for a field of that name. Who makes them has checked each value for length
/// and characters, by [`field_value_errors`].
#[derive(Clone, Default)]
pub struct SentFields(Vec<(String, String)>);

impl SentFields {
    /// Values by the names sent, in the order sent. Each name stands once.
    pub fn new(values: Vec<(String, String)>) -> Self {
        Self(values)
    }

    /// The values with their names, in the order sent.
    pub fn as_slice(&self) -> &[(String, String)] {
        &self.0
    }
}

/// The fields that were sent differ from the fields of the version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldMismatch {
    /// Keys of the version that were not sent, in the prism's order.
    #[error("Missing fields: {}", .0.join(", "))]
    Missing(Vec<String>),
    /// Keys that were sent and that the version lacks, in the order sent.
    #[error("Unknown fields: {}", .0.join(", "))]
    Unknown(Vec<String>),
}

/// Values by field key in the prism's order; in JSON an object in that order.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldValues(#[serde(with = "As::<Map<Same, Same>>")] Vec<(FieldKey, String)>);

impl FieldValues {
    /// Values in the prism's order. Each key stands once.
    pub fn new(values: Vec<(FieldKey, String)>) -> Self {
        Self(values)
    }

    /// The values that were sent, matched with the fields of a version and in their order (spec 4.1).
    ///
    /// # Errors
    /// The missing keys; when none is missing, the unknown ones.
    pub fn matched(sent: SentFields, fields_of_version: &[Field]) -> Result<Self, FieldMismatch> {
        let mut sent = sent.0;
        let mut fields = Vec::with_capacity(fields_of_version.len());
        let mut missing = Vec::new();
        for field in fields_of_version {
            match sent.iter().position(|(key, _)| key == field.key.as_str()) {
                Some(index) => fields.push((field.key.clone(), sent.remove(index).1)),
                None => missing.push(field.key.to_string()),
            }
        }
        if !missing.is_empty() {
            return Err(FieldMismatch::Missing(missing));
        }
        if !sent.is_empty() {
            let unknown = sent.into_iter().map(|(key, _)| key).collect();
            return Err(FieldMismatch::Unknown(unknown));
        }
        Ok(Self(fields))
    }

    /// The values with their keys, in the prism's order.
    pub fn as_slice(&self) -> &[(FieldKey, String)] {
        &self.0
    }

    /// Size in bytes of the values' JSON if no character has to be escaped; one byte too few when
    /// there are no values.
    pub fn unescaped_bytes(&self) -> usize {
        let entries = self.0.iter();
        let bytes =
            entries.map(|(key, value)| key.as_str().len() + value.len() + r#""":"","#.len());
        "{".len() + bytes.sum::<usize>()
    }
}

/// The input of one call: a value for each field of one prism version, and the call's context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    fields: FieldValues,
    context: Option<CallContext>,
}

impl Submission {
    /// A submission of the values that were sent, matched with the fields of a version.
    ///
    /// # Errors
    /// As for [`FieldValues::matched`].
    pub fn new(
        sent: SentFields,
        context: Option<CallContext>,
        fields_of_version: &[Field],
    ) -> Result<Self, FieldMismatch> {
        let fields = FieldValues::matched(sent, fields_of_version)?;
        Ok(Self { fields, context })
    }

    /// A submission read from the database, which is not checked again.
    pub fn saved(fields: FieldValues, context: Option<CallContext>) -> Self {
        Self { fields, context }
    }

    /// The submission reduced to the fields of another version; `None` when it lacks one of them.
    pub fn for_fields(&self, fields: &[Field]) -> Option<Self> {
        let value = |field: &Field| {
            let value = self.fields.get(&field.key)?;
            Some((field.key.clone(), value.to_owned()))
        };
        let fields = fields.iter().map(value).collect::<Option<_>>()?;
        Some(Self {
            fields: FieldValues::new(fields),
            context: self.context.clone(),
        })
    }

    /// The submission with other values of the same fields. `value` gets each field's key and value.
    #[must_use]
    pub fn with_values(&self, value: impl Fn(&FieldKey, &str) -> String) -> Self {
        let fields = self.fields().iter();
        let fields = fields.map(|(key, text)| (key.clone(), value(key, text)));
        Self {
            fields: FieldValues(fields.collect()),
            context: self.context.clone(),
        }
    }

    /// Field keys and values in the prism's order.
    pub fn fields(&self) -> &[(FieldKey, String)] {
        &self.fields.0
    }

    /// The field values without the context.
    pub fn field_values(&self) -> &FieldValues {
        &self.fields
    }

    /// The context of the call.
    pub fn context(&self) -> Option<&str> {
        self.context.as_ref().map(CallContext::as_str)
    }
}

impl FieldValues {
    /// The value of a field; `None` when the version that answered has no such field.
    pub fn get(&self, key: &FieldKey) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(sent, _)| sent == key)?;
        Some(value)
    }
}

/// Shows lengths, never a text.
impl fmt::Debug for FieldValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.0.iter().map(|(key, value)| (key, value.len()));
        f.debug_map().entries(sizes).finish()
    }
}

/// Shows the length, never the text.
impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallContext({})", self.0.len())
    }
}

macro_rules! trimmed {
    ($(#[$doc:meta])* $name:ident, $chars:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// Trims a text and checks it.
            ///
            /// # Errors
            /// The faults of the trimmed text's length and characters.
            pub fn parse(text: &str) -> Result<Self, Vec<ValidationError>> {
                let text = text.trim();
                let errors = text::errors(text, &$chars);
                if errors.is_empty() { Ok(Self(text.to_owned())) } else { Err(errors) }
            }

            /// A value read from the database, which is not checked again.
            pub fn saved(text: String) -> Self {
                Self(text)
            }

            /// The value as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        /// Hides the text, which belongs to the caller.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(…)"))
            }
        }
    };
}

trimmed! {
    /// A caller's own reference for a result, returned in every format; it need not be unique.
    Ref, REF_CHARS
}
trimmed! {
    /// An idempotency key, which makes it safe to repeat a call: an account has at most one result
    /// under each key.
    IdempotencyKey, IDEMPOTENCY_KEY_CHARS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(keys: &[&str]) -> Vec<Field> {
        let field = |key: &&str| Field {
            key: FieldKey::parse(key).unwrap(),
            label: "F".to_owned(),
        };
        keys.iter().map(field).collect()
    }

    fn sent(keys: &[&str]) -> SentFields {
        SentFields::new(
            keys.iter()
                .map(|key| ((*key).to_owned(), format!("v-{key}")))
                .collect(),
        )
    }

    #[test]
    fn fields_are_kept_in_the_prisms_order() {
        let submission = Submission::new(sent(&["b", "a"]), None, &fields(&["a", "b"])).unwrap();
        let json = serde_json::to_string(submission.field_values()).unwrap();
        assert_eq!(json, r#"{"a":"v-a","b":"v-b"}"#);
        assert_eq!(
            serde_json::from_str::<FieldValues>(&json).unwrap(),
            *submission.field_values()
        );
    }

    #[test]
    fn missing_fields_come_in_the_prisms_order_and_before_unknown_ones() {
        let fields = fields(&["a", "b", "c"]);
        let mismatch = |keys: &[&str]| {
            Submission::new(sent(keys), None, &fields)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(mismatch(&["x", "b"]), "Missing fields: a, c");
        assert_eq!(mismatch(&["z", "a", "c", "x", "b"]), "Unknown fields: z, x");
    }

    #[test]
    fn a_blank_context_is_none_but_is_measured_first() {
        assert!(CallContext::parse(" \n\t".to_owned()).unwrap().is_none());
        assert_eq!(
            CallContext::parse(" a ".to_owned())
                .unwrap()
                .unwrap()
                .as_str(),
            " a "
        );
        let blank = " ".repeat(100_001);
        assert_eq!(
            CallContext::parse(blank).err(),
            Some(vec![ValidationError::StringTooLong(100_000)])
        );
    }

    #[test]
    fn a_value_has_up_to_100000_characters() {
        assert!(field_value_errors("").is_empty());
        assert!(field_value_errors(&"😀".repeat(100_000)).is_empty());
        assert_eq!(
            field_value_errors(&"x".repeat(100_001)),
            [ValidationError::StringTooLong(100_000)]
        );
        assert_eq!(
            field_value_errors("a\0"),
            [ValidationError::ForbiddenCharacters]
        );
    }

    #[test]
    fn values_are_kept_for_the_fields_of_another_version_unless_one_lacks() {
        let context = CallContext::saved("A customer".to_owned());
        let sent = Submission::new(sent(&["a", "b"]), context, &fields(&["a", "b"])).unwrap();
        let kept = sent.for_fields(&fields(&["b"])).unwrap();
        let keys: Vec<_> = kept
            .fields()
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(keys, [("b", "v-b")]);
        assert_eq!(kept.context(), Some("A customer"));
        assert_eq!(
            sent.for_fields(&fields(&["b", "a"]))
                .unwrap()
                .fields()
                .len(),
            2
        );
        assert_eq!(sent.for_fields(&fields(&["a", "c"])), None);
    }

    #[test]
    fn other_values_keep_the_fields_and_the_context() {
        let context = CallContext::saved("A customer".to_owned());
        let sent = Submission::new(sent(&["a", "b"]), context, &fields(&["a", "b"])).unwrap();
        let other = sent.with_values(|key, value| format!("{key}: {value}"));
        let values: Vec<_> = other
            .fields()
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(values, [("a", "a: v-a"), ("b", "b: v-b")]);
        assert_eq!(other.context(), Some("A customer"));
    }

    #[test]
    fn debug_shows_no_text() {
        let submission = Submission::new(sent(&["a"]), None, &fields(&["a"])).unwrap();
        assert!(!format!("{submission:?}").contains("v-a"));
    }
}
