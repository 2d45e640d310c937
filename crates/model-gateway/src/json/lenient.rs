//! Deserialises values in one pass. A value of an unexpected type counts as missing.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use smallvec::SmallVec;

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
