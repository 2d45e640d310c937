//! JSON as it was sent: object keys in order, strings with unpaired surrogates allowed.
//!
//! `serde_json` checks the syntax of the whole text and splits it into values; each value is read
//! only on demand. An ignored key therefore costs nothing, however deep its value is. An escape
//! such as `\ud800`, which no Rust string can represent, is a fault of its string and not of the
//! whole text.

use std::fmt;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use serde_json::value::RawValue;

use crate::problem::ValidationError;

/// The text is not exactly one JSON value in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not valid JSON: line {line}, column {column}")]
#[non_exhaustive]
pub struct Malformed {
    /// Line of the fault, from 1.
    pub line: usize,
    /// Column of the fault in bytes, from 1; 0 at a line's beginning.
    pub column: usize,
}

/// One JSON value; the elements of a list or an object are not read yet.
#[derive(Debug)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number; infinite if it is beyond the range of a double.
    Number(f64),
    /// A string.
    String(JsonString),
    /// A list.
    Array(Vec<&'a RawValue>),
    /// An object.
    Object(Object<'a>),
}

/// A JSON object. A key that was sent twice has its first position and its last value.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Object<'a>(#[serde(borrow)] IndexMap<JsonString, &'a RawValue>);

impl<'a> Object<'a> {
    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<Json<'a>> {
        let mut entries = self.0.iter();
        let (_, value) = entries.find(|(sent, _)| sent.is(key))?;
        Some(Json::read(value))
    }

    /// The value under a key as its JSON text.
    pub fn written(&self, key: &str) -> Option<&'a str> {
        let mut entries = self.0.iter();
        let (_, value) = entries.find(|(sent, _)| sent.is(key))?;
        Some(value.get())
    }

    /// Whether the key was sent, whatever its value.
    pub fn has(&self, key: &str) -> bool {
        self.0.keys().any(|sent| sent.is(key))
    }

    /// Keys and values in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = (&JsonString, Json<'a>)> {
        self.0.iter().map(|(key, value)| (key, Json::read(value)))
    }

    /// The keys that are not among `known`, in the order sent.
    pub fn keys_besides(&self, known: &[&str]) -> Vec<String> {
        let is_known = |key: &&JsonString| known.iter().any(|known| key.is(known));
        let unknown = self.0.keys().filter(|key| !is_known(key));
        unknown.map(|key| key.text.clone()).collect()
    }
}

impl<'a> Json<'a> {
    /// Reads a whole text as one JSON value.
    ///
    /// # Errors
    /// When the text is not exactly one JSON value in UTF-8.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let raw: &RawValue = serde_json::from_slice(bytes).map_err(|error| Malformed {
            line: error.line(),
            column: error.column(),
        })?;
        Ok(Self::read(raw))
    }

    /// Reads a value that [`Json::parse`] split off.
    pub fn read(raw: &'a RawValue) -> Self {
        let text = raw.get();
        match text.bytes().next() {
            Some(b'n') | None => Self::Null,
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'"') => Self::String(serde_json::from_str(text).unwrap_or_default()),
            Some(b'[') => Self::Array(serde_json::from_str(text).unwrap_or_default()),
            Some(b'{') => Self::Object(serde_json::from_str(text).unwrap_or_default()),
            Some(_) => Self::Number(text.parse().unwrap_or(f64::NAN)),
        }
    }

    /// The value as an object.
    ///
    /// # Errors
    /// [`ValidationError::Expected`] for a value of another type.
    pub fn into_object(self) -> Result<Object<'a>, ValidationError> {
        if let Self::Object(object) = self {
            Ok(object)
        } else {
            Err(self.expected("object"))
        }
    }

    /// The elements of the value as a list.
    ///
    /// # Errors
    /// [`ValidationError::Expected`] for a value of another type.
    pub fn into_array(self) -> Result<Vec<&'a RawValue>, ValidationError> {
        if let Self::Array(elements) = self {
            Ok(elements)
        } else {
            Err(self.expected("array"))
        }
    }

    /// The value as a string.
    ///
    /// # Errors
    /// [`ValidationError::Expected`] for a value of another type.
    pub fn into_string(self) -> Result<JsonString, ValidationError> {
        if let Self::String(string) = self {
            Ok(string)
        } else {
            Err(self.expected("string"))
        }
    }

    /// The value as a number.
    ///
    /// # Errors
    /// [`ValidationError::Expected`] for a value of another type.
    pub fn into_number(self) -> Result<f64, ValidationError> {
        if let Self::Number(number) = self {
            Ok(number)
        } else {
            Err(self.expected("number"))
        }
    }

    fn expected(&self, expected: &'static str) -> ValidationError {
        ValidationError::Expected {
            expected,
            received: self.type_name(),
        }
    }

    /// The name of the value's type, as zod 3 calls it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

/// A string with U+FFFD in place of every unpaired surrogate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct JsonString {
    /// The characters.
    pub text: String,
    /// Whether an unpaired surrogate was among them.
    pub has_unpaired_surrogate: bool,
}

impl JsonString {
    /// Whether the string is exactly this text.
    fn is(&self, text: &str) -> bool {
        !self.has_unpaired_surrogate && self.text == text
    }
}

impl<'de> Deserialize<'de> for JsonString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // when asked for bytes, `serde_json` passes unpaired surrogates on as WTF-8
        deserializer.deserialize_byte_buf(Wtf8Visitor)
    }
}

struct Wtf8Visitor;

impl Visitor<'_> for Wtf8Visitor {
    type Value = JsonString;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<JsonString, E> {
        Ok(match str::from_utf8(bytes) {
            Ok(text) => JsonString {
                text: text.to_owned(),
                has_unpaired_surrogate: false,
            },
            Err(_) => JsonString {
                text: replace_surrogates(bytes),
                has_unpaired_surrogate: true,
            },
        })
    }
}

/// Replaces each surrogate, three bytes `ED A0..BF xx` in WTF-8, by one U+FFFD.
fn replace_surrogates(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if chunk.invalid().first() == Some(&0xED) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

#[cfg(test)]
mod tests;
