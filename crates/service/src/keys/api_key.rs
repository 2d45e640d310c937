//! API keys: shown to their owner once, stored as a hash (spec 2.8).

use refract_domain::account::secret_hash::ApiKeyHash;
use sha2::{Digest as _, Sha256};

use crate::people::random_text;

/// The three characters that every API key begins with.
pub const PREFIX: &str = "rk_";
/// Random characters after the prefix.
const RANDOM_CHARS: usize = 32;

/// A whole API key. It has no `Debug` and no `Display`, so that no log shows one by accident.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Makes a key from random bytes, one character from each.
    pub fn from_random(random: [u8; RANDOM_CHARS]) -> Self {
        let letters = random_text::from_random(&random);
        Self(PREFIX.chars().chain(letters).collect())
    }

    /// Parses a key that a caller sent; `None` for a text without the shape of a key.
    pub fn parse(text: &str) -> Option<Self> {
        let random = text.strip_prefix(PREFIX)?;
        random_text::has_shape(random, RANDOM_CHARS).then(|| Self(text.to_owned()))
    }

    /// The key as text, for the one time that it is shown.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The first characters, by which an owner recognises the key.
    pub fn first_characters(&self) -> String {
        self.0.chars().take(PREFIX.len() + 4).collect()
    }

    /// The hash that is stored in place of the key.
    pub fn hash(&self) -> ApiKeyHash {
        ApiKeyHash::new(Sha256::digest(self.0.as_bytes()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_reads_back() {
        let key = ApiKey::from_random(std::array::from_fn(|i| u8::try_from(i * 8).unwrap()));
        assert_eq!(key.reveal().len(), 35);
        assert!(ApiKey::parse(key.reveal()).unwrap().hash() == key.hash());
        assert_eq!(key.first_characters().len(), 7);
    }

    #[test]
    fn other_shapes_are_no_keys() {
        let good = format!("rk_{}", "a".repeat(32));
        assert!(ApiKey::parse(&good).is_some());
        for bad in [
            good.trim_start_matches('r'),
            good.trim_end_matches('a'),
            &format!("{good}a"),
            "",
            &good.replace("aa", "a+"),
        ] {
            assert!(ApiKey::parse(bad).is_none(), "{bad}");
        }
    }
}
