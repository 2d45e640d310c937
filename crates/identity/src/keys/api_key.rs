//! API keys: shown to their owner once, stored as a hash (spec 2.8), and presented by calls.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use refract_domain::account::ApiKeyHash;
use refract_domain::ids::ApiKeyId;
use sha2::{Digest as _, Sha256};

use crate::people::secrets;

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
        let letters = secrets::from_random(&random);
        Self(PREFIX.chars().chain(letters).collect())
    }

    /// Parses a key that a caller sent; `None` for a text without the shape of a key.
    pub fn parse(text: &str) -> Option<Self> {
        let random = text.strip_prefix(PREFIX)?;
        secrets::has_shape(random, RANDOM_CHARS).then(|| Self(text.to_owned()))
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

/// The id of a call's API key, once the key was found, even if it is revoked. Clones share it, so
/// that the call's log line can name the caller however the call ends.
#[derive(Clone, Debug, Default)]
pub struct CallKeyId(Arc<OnceLock<ApiKeyId>>);

impl CallKeyId {
    /// The id; `None` for a call without a key that exists or existed.
    pub fn get(&self) -> Option<ApiKeyId> {
        self.0.get().copied()
    }

    fn found(&self, id: ApiKeyId) {
        // a call has one key
        let _ = self.0.set(id);
    }
}

/// The key of a call, and the call's client.
pub struct PresentedKey {
    /// `None` when the bearer token does not have the shape of a key.
    key: Option<ApiKey>,
    id: CallKeyId,
    client: Option<IpAddr>,
}

impl PresentedKey {
    /// A key whose id is written to `id` once it is known, of a client at this address.
    pub fn new(key: Option<ApiKey>, id: CallKeyId, client: Option<IpAddr>) -> Self {
        Self { key, id, client }
    }

    /// The address of the client, if it is known.
    pub(crate) fn client(&self) -> Option<IpAddr> {
        self.client
    }

    pub(crate) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// Records the id of the key.
    pub(crate) fn is_of(&self, id: ApiKeyId) {
        self.id.found(id);
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
