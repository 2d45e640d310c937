//! JSON strings, decoded without failing on unpaired surrogates.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

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
    pub(super) fn is(&self, text: &str) -> bool {
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
