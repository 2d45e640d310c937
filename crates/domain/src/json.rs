//! JSON as it was sent: object keys in order, strings that may hold unpaired surrogates.
//!
//! `serde_json` checks the syntax and cuts the values; each is read only when it is asked for. So
//! an ignored key costs nothing however deep its value is, and a string with an escape such as
//! `\ud800`, which no Rust string can hold, is a fault of that string and not of the whole text.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::problem::Fault;

/// The text is not one JSON value in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not valid JSON: line {line}, column {column}")]
pub struct Malformed {
    /// Line of the fault, from 1.
    pub line: usize,
    /// Column of the fault in bytes, from 1; 0 at a line's beginning.
    pub column: usize,
}

/// One JSON value, its parts not read yet.
#[derive(Debug)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number by value; beyond the range of a double it is infinite.
    Number(f64),
    /// A string.
    String(JsonString),
    /// A list.
    Array(Vec<&'a RawValue>),
    /// An object.
    Object(Object<'a>),
}

/// A string, with U+FFFD in the place of every unpaired surrogate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonString {
    /// The characters.
    pub text: String,
    /// Whether an unpaired surrogate was among them.
    pub has_unpaired_surrogate: bool,
}

/// An object: each key once, where it first stood, with the value that it had last.
#[derive(Debug, Default)]
pub struct Object<'a>(Vec<(JsonString, &'a RawValue)>);

impl<'a> Object<'a> {
    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<Json<'a>> {
        self.0
            .iter()
            .find(|(sent, _)| sent.is(key))
            .map(|(_, value)| Json::read(value))
    }

    /// Whether the key was sent, whatever its value.
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(sent, _)| sent.is(key))
    }

    /// Keys and values in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = (&JsonString, Json<'a>)> {
        self.0.iter().map(|(key, value)| (key, Json::read(value)))
    }

    /// Keys that are none of these, in the order sent.
    pub fn keys_besides(&self, known: &[&str]) -> Vec<String> {
        let unknown = self
            .0
            .iter()
            .filter(|(key, _)| !known.iter().any(|known| key.is(known)));
        unknown.map(|(key, _)| key.text.clone()).collect()
    }
}

impl JsonString {
    fn is(&self, text: &str) -> bool {
        !self.has_unpaired_surrogate && self.text == text
    }

    fn from_wtf8(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self {
                text,
                has_unpaired_surrogate: false,
            },
            Err(error) => Self {
                text: replace_surrogates(error.as_bytes()),
                has_unpaired_surrogate: true,
            },
        }
    }
}

/// One U+FFFD for each surrogate, which WTF-8 writes as the three bytes `ED A0..BF xx`.
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

impl<'a> Json<'a> {
    /// Reads a whole text as one JSON value.
    ///
    /// # Errors
    /// When it is not exactly one JSON value in UTF-8.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let raw: &RawValue = serde_json::from_slice(bytes).map_err(|error| Malformed {
            line: error.line(),
            column: error.column(),
        })?;
        Ok(Self::read(raw))
    }

    /// Reads a value that [`Json::parse`] cut out.
    pub fn read(raw: &'a RawValue) -> Self {
        let text = raw.get();
        match text.bytes().next() {
            Some(b'n') | None => Self::Null,
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'"') => Self::String(read_string(text)),
            Some(b'[') => Self::Array(serde_json::from_str(text).unwrap_or_default()),
            Some(b'{') => Self::Object(read_object(text)),
            Some(_) => Self::Number(text.parse().unwrap_or(f64::NAN)),
        }
    }

    /// The object.
    ///
    /// # Errors
    /// The fault of a value of another type.
    pub fn into_object(self) -> Result<Object<'a>, Fault> {
        if let Self::Object(object) = self {
            Ok(object)
        } else {
            Err(self.is_no("object"))
        }
    }

    /// The elements of a list.
    ///
    /// # Errors
    /// The fault of a value of another type.
    pub fn into_array(self) -> Result<Vec<&'a RawValue>, Fault> {
        if let Self::Array(elements) = self {
            Ok(elements)
        } else {
            Err(self.is_no("array"))
        }
    }

    /// The string.
    ///
    /// # Errors
    /// The fault of a value of another type.
    pub fn into_string(self) -> Result<JsonString, Fault> {
        if let Self::String(string) = self {
            Ok(string)
        } else {
            Err(self.is_no("string"))
        }
    }

    /// The number.
    ///
    /// # Errors
    /// The fault of a value of another type.
    pub fn into_number(self) -> Result<f64, Fault> {
        if let Self::Number(number) = self {
            Ok(number)
        } else {
            Err(self.is_no("number"))
        }
    }

    fn is_no(&self, expected: &'static str) -> Fault {
        Fault::Expected {
            expected,
            received: self.type_name(),
        }
    }

    /// The type's name as zod 3 says it.
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

fn read_string(text: &str) -> JsonString {
    let bytes = serde_json::Deserializer::from_str(text).deserialize_byte_buf(BytesVisitor);
    JsonString::from_wtf8(bytes.unwrap_or_default())
}

fn read_object(text: &str) -> Object<'_> {
    serde_json::Deserializer::from_str(text)
        .deserialize_map(ObjectVisitor)
        .unwrap_or_default()
}

/// A string as bytes: UTF-8, with unpaired surrogates in the form of WTF-8.
struct BytesVisitor;

impl Visitor<'_> for BytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

struct KeySeed;

impl<'de> serde::de::DeserializeSeed<'de> for KeySeed {
    type Value = JsonString;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<JsonString, D::Error> {
        deserializer
            .deserialize_byte_buf(BytesVisitor)
            .map(JsonString::from_wtf8)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        use std::collections::HashMap;
        use std::collections::hash_map::Entry;

        let mut entries: Vec<(JsonString, &'de RawValue)> = Vec::new();
        let mut places: HashMap<(String, bool), usize> = HashMap::new();
        while let Some(key) = map.next_key_seed(KeySeed)? {
            let value = map.next_value()?;
            match places.entry((key.text.clone(), key.has_unpaired_surrogate)) {
                Entry::Vacant(place) => {
                    place.insert(entries.len());
                    entries.push((key, value));
                }
                Entry::Occupied(place) => {
                    if let Some((_, last)) = entries.get_mut(*place.get()) {
                        *last = value;
                    }
                }
            }
        }
        Ok(Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object<'_> {
        Json::parse(text.as_bytes()).unwrap().into_object().unwrap()
    }

    fn string(text: &str) -> JsonString {
        Json::parse(text.as_bytes()).unwrap().into_string().unwrap()
    }

    #[test]
    fn keys_keep_their_order_and_the_last_value_counts() {
        let object = object(r#"{"b": 1, "a": 2, "b": "x"}"#);
        let read: Vec<_> = object
            .iter()
            .map(|(k, v)| (k.text.clone(), v.type_name()))
            .collect();
        assert_eq!(
            read,
            [("b".to_owned(), "string"), ("a".to_owned(), "number")]
        );
        assert_eq!(object.keys_besides(&["a"]), ["b"]);
    }

    #[test]
    fn an_unpaired_surrogate_is_a_fault_of_its_string_alone() {
        let lone = string(r#""a\ud800b\udc00c""#);
        assert_eq!(lone.text, "a\u{fffd}b\u{fffd}c");
        assert!(lone.has_unpaired_surrogate);
        let paired = string(r#""\ud83d\ude00\n""#);
        assert_eq!(
            (paired.text.as_str(), paired.has_unpaired_surrogate),
            ("\u{1f600}\n", false)
        );
        let two = string(r#""\ud800\ud800""#);
        assert_eq!(two.text, "\u{fffd}\u{fffd}");
        let key = object(r#"{"\udfff": [1]}"#);
        assert_eq!(key.keys_besides(&[]), ["\u{fffd}"]);
        assert!(!key.has("\u{fffd}"));
    }

    #[test]
    fn numbers_count_by_value() {
        for (text, value) in [
            ("1e0", 1.0),
            ("1.50", 1.5),
            ("-0", -0.0),
            ("1e999", f64::INFINITY),
        ] {
            let number = Json::parse(text.as_bytes()).unwrap().into_number().unwrap();
            assert_eq!(number.to_bits(), value.to_bits(), "{text}");
        }
    }

    #[test]
    fn an_ignored_value_may_be_deep() {
        let deep = format!(
            r#"{{"a": {}{}, "b": true}}"#,
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        assert!(matches!(object(&deep).get("b"), Some(Json::Bool(true))));
    }

    #[test]
    fn anything_but_one_value_in_utf_8_is_malformed() {
        for bytes in [
            &b""[..],
            b"{",
            b"{} {}",
            b"nul",
            b"\"\xff\"",
            b"[1,]",
            b"{'a':1}",
            b"\"\\x\"",
            b"01",
            b"\"\\ud8\"",
            b"\"\n\"",
            b"\xef\xbb\xbf{}",
        ] {
            assert!(Json::parse(bytes).is_err(), "{bytes:?}");
        }
    }
}
