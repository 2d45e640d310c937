//! Reads the JSON of model servers with care: a value of another type than expected is no value.

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An error that is there; some servers send the key with nothing in it.
pub(crate) fn is_error(raw: &RawValue) -> bool {
    !matches!(raw.get(), "false" | "\"\"")
}

/// A whole number from 0.
pub(crate) fn count(raw: &RawValue) -> Option<u64> {
    raw.get().parse().ok()
}

/// A number; one that is too large for a double is infinite.
pub(crate) fn number(raw: &RawValue) -> Option<f64> {
    // what is valid JSON and begins like a number is one
    let begins = raw
        .get()
        .starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if begins { raw.get().parse().ok() } else { None }
}

/// A text.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Key<'_>>(raw.get())
        .ok()
        .map(|key| key.0)
}

/// Reads an object; serde would take a list for one as well.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Option<T> {
    if json.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    serde_json::from_slice(json).ok()
}

/// An object's values by key, each key once.
#[derive(Default)]
pub(crate) struct Keyed<'a>(HashMap<Key<'a>, &'a RawValue>);

impl<'a> Keyed<'a> {
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.get(key).copied()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Keyed<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeyedVisitor)
    }
}

struct KeyedVisitor;

impl<'de> Visitor<'de> for KeyedVisitor {
    type Value = Keyed<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keyed<'de>, A::Error> {
        let mut values = HashMap::new();
        while let Some((key, value)) = map.next_entry()? {
            if values.insert(key, value).is_some() {
                return Err(A::Error::custom("a key stands twice"));
            }
        }
        Ok(Keyed(values))
    }
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl Borrow<str> for Key<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}
