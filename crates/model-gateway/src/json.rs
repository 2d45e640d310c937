//! Lenient readers for the JSON of model servers: a value of an unexpected type counts as missing,
//! so that one odd field does not spoil an answer.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use serde_with::rust::maps_duplicate_key_is_error;
use smallvec::SmallVec;

/// Whether the value of the key `error` is an error. Some servers send the key with every answer: with
/// an empty value, or with an object whose values are empty or 0.
pub(crate) fn is_error(raw: &RawValue) -> bool {
    serde_json::from_str(raw.get()).map_or(true, |error| has_content(&error))
}

/// Whether anything in a value is neither empty nor 0.
pub(crate) fn has_content(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(values) => values.iter().any(has_content),
        Value::Object(values) => values.values().any(has_content),
    }
}

/// Reads a whole number of at least 0. Some servers write all numbers with a decimal point.
pub(crate) fn count(raw: &RawValue) -> Option<u64> {
    let number = raw.get();
    let whole = match number.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        Some(_) | None => number,
    };
    whole.parse().ok()
}

/// Reads a number. A number that is too large for a double is infinite.
pub(crate) fn number(raw: &RawValue) -> Option<f64> {
    // a valid JSON value that begins like a number is a number
    let begins = raw
        .get()
        .starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if begins { raw.get().parse().ok() } else { None }
}

/// Reads a text.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<JsonKey<'_>>(raw.get())
        .ok()
        .map(|key| key.0)
}

/// Reads an object inside an object.
pub(crate) fn nested<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    object(raw.get().as_bytes())
}

/// Reads an object, which may follow a byte order mark (RFC 8259, 8.1). Without this check, serde
/// would accept a list too.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Option<T> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    if json.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    serde_json::from_slice(json).ok()
}

/// Reads the values of a list.
pub(crate) fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// An object's values by key. An object with a duplicate key is unreadable.
#[derive(Default, Deserialize)]
pub(crate) struct JsonObject<'a>(
    #[serde(borrow, with = "maps_duplicate_key_is_error")] BTreeMap<JsonKey<'a>, &'a RawValue>,
);

impl<'a> JsonObject<'a> {
    /// Collects keys and values; `None` if a key occurs twice.
    pub(crate) fn of(
        entries: impl IntoIterator<Item = (Cow<'a, str>, &'a RawValue)>,
    ) -> Option<Self> {
        let mut values = BTreeMap::new();
        for (key, value) in entries {
            if values.insert(JsonKey(key), value).is_some() {
                return None;
            }
        }
        Some(Self(values))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|key| key.0.as_ref())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.get(key).copied()
    }
}

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct JsonKey<'a>(#[serde(borrow)] Cow<'a, str>);

impl Borrow<str> for JsonKey<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// A value of any type, read as `T`; `None` if it is of another type.
pub(crate) struct Lenient<T>(pub(crate) Option<T>);

/// The bytes of a token; most fit without an allocation.
pub(crate) type TokenBytes = SmallVec<[u8; 16]>;

/// A type that is read from one kind of JSON value: text, number, list, list of bytes, or object.
/// By default every kind gives no value, so an implementation defines only its own kind.
pub(crate) trait LenientKind<'de>: Sized {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn from_text(_text: Cow<'de, str>) -> Option<Self> {
        None
    }

    fn from_number(_number: f64) -> Option<Self> {
        None
    }
}

/// Marks structures that are read from an object.
pub(crate) trait ObjectFields<'de>: Deserialize<'de> {}

impl<'de: 'a, 'a> LenientKind<'de> for Cow<'a, str> {
    fn from_text(text: Cow<'de, str>) -> Option<Self> {
        Some(text)
    }
}

impl LenientKind<'_> for f64 {
    fn from_number(number: f64) -> Option<Self> {
        Some(number)
    }
}

impl<'de, T: Deserialize<'de>> LenientKind<'de> for Vec<T> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut elements = Self::new();
        while let Some(element) = list.next_element()? {
            elements.push(element);
        }
        Ok(Some(elements))
    }
}

impl<'de> LenientKind<'de> for TokenBytes {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut bytes = Self::new();
        let mut are_bytes = true;
        while let Some(Lenient(number)) = list.next_element()? {
            match number.and_then(byte) {
                Some(byte) => bytes.push(byte),
                None => are_bytes = false,
            }
        }
        Ok(are_bytes.then_some(bytes))
    }
}

impl<'de, T: ObjectFields<'de>> LenientKind<'de> for T {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(Some)
    }
}

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: LenientKind<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(LenientVisitor(PhantomData));
        value.map(Self)
    }
}

fn byte(number: f64) -> Option<u8> {
    let is_byte = (0.0..=255.0).contains(&number) && number.fract() == 0.0;
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is a whole one from 0 to 255"
    )]
    is_byte.then_some(number as u8)
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: LenientKind<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Option<T>, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Option<T>, A::Error> {
        T::from_object(object)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Option<T>, E> {
        Ok(None)
    }

    /// Reads a whole number; one over 32 bits counts as missing.
    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<T>, E> {
        let number = i32::try_from(number).ok();
        Ok(number.and_then(|number| T::from_number(f64::from(number))))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<T>, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Option<T>, E> {
        Ok(T::from_number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<T>, E> {
        Ok(T::from_text(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Option<T>, E> {
        Ok(T::from_text(Cow::Borrowed(text)))
    }
}

/// The body with valid JSON values in place of `Infinity` and `NaN`, which Python writes, and with
/// U+FFFD in place of half characters; `None` if it has neither.
pub(crate) fn readable(body: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(body);
    let finite = text
        .replace("-Infinity", "-9999")
        .replace("Infinity", "9999")
        .replace("NaN", "null");
    let whole = without_unpaired_surrogates(&finite).into_bytes();
    (whole != body).then_some(whole)
}

/// JSON with `\ufffd` in place of each escape of a surrogate without its other half.
fn without_unpaired_surrogates(json: &str) -> String {
    let unit = |at: usize| {
        let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let is_low = |at: usize| unit(at).is_some_and(|unit| (0xDC00..0xE000).contains(&unit));
    let mut whole = String::with_capacity(json.len());
    let mut rest = 0;
    while let Some(found) = json.get(rest..).and_then(|json| json.find('\\')) {
        let at = rest + found;
        let (length, is_whole) = match unit(at) {
            Some(0xD800..0xDC00) if is_low(at + 6) => (12, true),
            Some(0xD800..0xE000) => (6, false),
            Some(_) => (6, true),
            // the character behind may be a backslash too
            None => {
                let escaped = json.get(at + 1..).and_then(|json| json.chars().next());
                (1 + escaped.map_or(0, char::len_utf8), true)
            }
        };
        let end = at + length;
        let kept = if is_whole { end } else { at };
        whole.push_str(json.get(rest..kept).unwrap_or_default());
        if !is_whole {
            whole.push_str("\\ufffd");
        }
        rest = end;
    }
    whole.push_str(json.get(rest..).unwrap_or_default());
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_half_characters_are_replaced() {
        for (sent, expected) in [
            (r#"{"a":"\udce2"}"#, r#"{"a":"\ufffd"}"#),
            (r#"["\ud83d\ude00\ud83d"]"#, r#"["\ud83d\ude00\ufffd"]"#),
            (r#"["\ud83d\ud83d\uDE00x"]"#, r#"["\ufffd\ud83d\uDE00x"]"#),
            (
                r#"["\\ud83d", "\u00e4\n\""]"#,
                r#"["\\ud83d", "\u00e4\n\""]"#,
            ),
            (r#"["\ud83"#, r#"["\ud83"#),
            ("[\"\\", "[\"\\"),
            ("[\"\\ä", "[\"\\ä"),
        ] {
            assert_eq!(without_unpaired_surrogates(sent), expected);
        }
    }
}
