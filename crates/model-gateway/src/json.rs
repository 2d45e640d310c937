//! Lenient readers for the JSON of model servers: a value of an unexpected type counts as missing,
//! so that one odd field does not spoil an answer.

pub(crate) mod lenient;

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_with::rust::maps_duplicate_key_is_error;

/// Whether the value of the key `error` is an error; some servers send the key with an empty value.
pub(crate) fn is_error(raw: &RawValue) -> bool {
    !matches!(raw.get(), "false" | "\"\"")
}

/// Reads a whole number of at least 0.
pub(crate) fn count(raw: &RawValue) -> Option<u64> {
    raw.get().parse().ok()
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
