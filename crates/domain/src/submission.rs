//! One call's values: the fields of a prism version and the call's context.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::key::FieldKey;
use crate::limits::{CALL_CONTEXT_CHARS, FIELD_VALUE_CHARS};
use crate::ordered_map;
use crate::prism::Definition;
use crate::problem::Fault;
use crate::text;

/// The faults of a field's value (spec 8).
pub fn field_value_faults(value: &str) -> Vec<Fault> {
    text::faults(value, &(0..=FIELD_VALUE_CHARS))
}

/// Background for one call, as it was sent and never blank (spec 4.1).
#[derive(Clone, PartialEq, Eq)]
pub struct CallContext(String);

impl CallContext {
    /// Reads a context; blank is none. It is measured before it is found blank.
    ///
    /// # Errors
    /// The faults of its length and characters.
    pub fn parse(text: String) -> Result<Option<Self>, Vec<Fault>> {
        let faults = text::faults(&text, &(0..=CALL_CONTEXT_CHARS));
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self::saved(text))
    }

    /// A context as it was saved; blank is none.
    pub fn saved(text: String) -> Option<Self> {
        if text.trim().is_empty() {
            None
        } else {
            Some(Self(text))
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Values as a caller names them, before it is known which version they are for.
///
/// `text` is short for a field of that name. Every value has been checked on its own.
#[derive(Clone, Default)]
pub struct SentFields(pub Vec<(String, String)>);

/// The fields sent are not those of the version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldMismatch {
    /// Keys of the version that were not sent, in the prism's order.
    #[error("Missing fields: {}", .0.join(", "))]
    Missing(Vec<String>),
    /// Keys sent that the version lacks, in the order sent.
    #[error("Unknown fields: {}", .0.join(", "))]
    Unknown(Vec<String>),
}

/// Keys and values in the prism's order; as JSON an object in that order.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldValues(#[serde(with = "ordered_map")] pub Vec<(FieldKey, String)>);

/// The values of exactly the fields of one prism version, with the call's context.
#[derive(Clone, PartialEq, Eq)]
pub struct Submission {
    fields: FieldValues,
    context: Option<CallContext>,
}

impl Submission {
    /// Matches what was sent with the fields of a version (spec 4.1).
    ///
    /// # Errors
    /// Missing keys; when there are none, unknown ones.
    pub fn new(
        sent: SentFields,
        context: Option<CallContext>,
        definition: &Definition,
    ) -> Result<Self, FieldMismatch> {
        let mut sent = sent.0;
        let mut fields = Vec::with_capacity(definition.fields().len());
        let mut missing = Vec::new();
        for field in definition.fields() {
            match sent.iter().position(|(key, _)| key == field.key.as_str()) {
                Some(index) => fields.push((field.key.clone(), sent.remove(index).1)),
                None => missing.push(field.key.to_string()),
            }
        }
        if !missing.is_empty() {
            return Err(FieldMismatch::Missing(missing));
        }
        if !sent.is_empty() {
            return Err(FieldMismatch::Unknown(
                sent.into_iter().map(|(key, _)| key).collect(),
            ));
        }
        Ok(Self {
            fields: FieldValues(fields),
            context,
        })
    }

    /// A submission as it was saved.
    pub fn saved(fields: FieldValues, context: Option<CallContext>) -> Self {
        Self { fields, context }
    }

    /// Keys and values in the prism's order.
    pub fn fields(&self) -> &[(FieldKey, String)] {
        &self.fields.0
    }

    /// The fields alone, as they are saved.
    pub fn field_values(&self) -> &FieldValues {
        &self.fields
    }

    /// The value of a field; `None` when the version has no such field.
    pub fn field(&self, key: &FieldKey) -> Option<&str> {
        self.fields()
            .iter()
            .find(|(sent, _)| sent == key)
            .map(|(_, value)| value.as_str())
    }

    /// The call's context.
    pub fn context(&self) -> Option<&str> {
        self.context.as_ref().map(CallContext::as_str)
    }
}

/// Shows sizes, never a text.
impl fmt::Debug for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.fields().iter().map(|(key, value)| (key, value.len()));
        f.debug_map().entries(sizes).finish()
    }
}
