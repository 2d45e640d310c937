//! JSON values that `serde_json` reads and writes, with object keys in order.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

#[derive(Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    String(String),
    /// A number in its written form.
    Number(String),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads exactly one value.
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap()
    }

    pub(crate) fn object(&self) -> &[(String, Json)] {
        match self {
            Self::Object(entries) => entries,
            Self::Null | Self::String(_) | Self::Number(_) => panic!("no object: {self:?}"),
        }
    }

    pub(crate) fn keys(&self) -> Vec<&str> {
        self.object().iter().map(|(key, _)| key.as_str()).collect()
    }

    pub(crate) fn get(&self, key: &str) -> &Json {
        &self
            .object()
            .iter()
            .find(|(candidate, _)| candidate == key)
            .unwrap()
            .1
    }

    /// All numbers in the value.
    pub(crate) fn numbers(&self) -> Vec<&str> {
        match self {
            Self::Null | Self::String(_) => Vec::new(),
            Self::Number(number) => vec![number],
            Self::Object(entries) => entries
                .iter()
                .flat_map(|(_, value)| value.numbers())
                .collect(),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let value = match raw.as_bytes()[0] {
            b'n' => Ok(Self::Null),
            b'"' => serde_json::from_str(raw).map(Self::String),
            b'{' => serde_json::Deserializer::from_str(raw).deserialize_map(Entries),
            _ => Ok(Self::Number(raw.to_owned())),
        };
        value.map_err(serde::de::Error::custom)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Json::Object(entries))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::String(text) => serializer.serialize_str(text),
            Self::Number(number) => RawValue::from_string(number.clone())
                .unwrap()
                .serialize(serializer),
            Self::Object(entries) => {
                serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
            }
        }
    }
}
