//! Values that are read in one pass. A value of another kind than the expected one counts as
//! missing.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use smallvec::SmallVec;

/// The elements of a list; none where the value is no list.
pub(crate) struct LenientList<T>(pub(crate) Vec<T>);

/// An object; `None` where the value is no object.
pub(crate) struct LenientObject<T>(pub(crate) Option<T>);

/// A text; `None` where the value is no text.
#[derive(Default)]
pub(crate) struct LenientText<'a>(pub(crate) Option<Cow<'a, str>>);

/// A number; `None` where the value is no number.
#[derive(Default)]
pub(crate) struct LenientNumber(pub(crate) Option<f64>);

/// A list of bytes; `None` where the value is anything else. The bytes of most tokens need no memory
/// of their own.
#[derive(Default)]
pub(crate) struct LenientBytes(pub(crate) Option<SmallVec<[u8; 16]>>);

/// A value of any kind, read as the kind that is wanted; another kind makes the default.
trait LenientValue<'de>: Default {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn from_text(_text: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn from_number(_number: f64) -> Self {
        Self::default()
    }
}

impl<'de> LenientValue<'de> for LenientText<'de> {
    fn from_text(text: Cow<'de, str>) -> Self {
        Self(Some(text))
    }
}

impl LenientValue<'_> for LenientNumber {
    fn from_number(number: f64) -> Self {
        Self(Some(number))
    }
}

impl<'de, T: Deserialize<'de>> LenientValue<'de> for LenientList<T> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            elements.push(element);
        }
        Ok(Self(elements))
    }
}

impl<'de> LenientValue<'de> for LenientBytes {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut bytes = SmallVec::new();
        let mut are_bytes = true;
        while let Some(LenientNumber(number)) = list.next_element()? {
            match number.and_then(byte) {
                Some(byte) => bytes.push(byte),
                None => are_bytes = false,
            }
        }
        Ok(Self(are_bytes.then_some(bytes)))
    }
}

impl<'de, T: Deserialize<'de>> LenientValue<'de> for LenientObject<T> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|value| Self(Some(value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LenientList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LenientObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for LenientText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for LenientBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for LenientNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData))
    }
}

impl<T> Default for LenientList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Default for LenientObject<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A whole number; one of more than 32 bits counts as missing.
fn whole<'de, S: LenientValue<'de>>(number: impl TryInto<i32>) -> S {
    let number: Option<i32> = number.try_into().ok();
    number.map_or_else(S::default, |number| S::from_number(f64::from(number)))
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

struct LenientVisitor<S>(PhantomData<S>);

impl<'de, S: LenientValue<'de>> Visitor<'de> for LenientVisitor<S> {
    type Value = S;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<S, A::Error> {
        S::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<S, A::Error> {
        S::from_object(object)
    }

    fn visit_unit<E: Error>(self) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<S, E> {
        Ok(whole(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<S, E> {
        Ok(whole(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<S, E> {
        Ok(S::from_number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<S, E> {
        Ok(S::from_text(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<S, E> {
        Ok(S::from_text(Cow::Borrowed(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_kind_counts_as_missing() {
        for (json, elements) in [
            ("[1, 2]", 2),
            ("[]", 0),
            (r#"{"0": [1]}"#, 0),
            ("null", 0),
            ("true", 0),
            ("-1", 0),
            ("1.5", 0),
            (r#""[1]""#, 0),
        ] {
            let list: LenientList<u8> = serde_json::from_str(json).unwrap();
            assert_eq!(list.0.len(), elements, "{json}");
            let bytes: LenientBytes = serde_json::from_str(json).unwrap();
            assert_eq!(bytes.0.is_some(), json.starts_with('['), "{json}");
            let nested = format!(r#"{{"one": {json}}}"#);
            let object: LenientObject<std::collections::HashMap<String, LenientList<u8>>> =
                serde_json::from_str(&nested).unwrap();
            assert_eq!(object.0.unwrap()["one"].0.len(), elements, "{json}");
        }
        for json in ["[256]", "[-1]", "[1.5]", "[null]", r#"[1, "2"]"#] {
            let bytes: LenientBytes = serde_json::from_str(json).unwrap();
            assert_eq!(bytes.0, None, "{json}");
        }
        for json in ["[{}]", "null", "3"] {
            let object: LenientObject<IgnoredAny> = serde_json::from_str(json).unwrap();
            assert!(object.0.is_none(), "{json}");
        }
    }
}
