//! Hashes that are stored in place of API keys and tokens.

use std::fmt;

/// SHA-256 of an API key: 192 random bits need no salt and no slow hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ApiKeyHash([u8; 32]);

impl ApiKeyHash {
    /// The hash with these bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the hash.
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Debug for ApiKeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKeyHash(…)")
    }
}

/// SHA-256 of a token: 258 random bits need no salt and no slow hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Characters of a hash as text.
    const DIGITS: usize = 64;

    /// The hash with these bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the hash.
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }

    /// The hash as 64 hexadecimal digits. The app uses it as the id of a session, since nobody can
    /// sign in with it.
    pub fn to_hex(&self) -> String {
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digits = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16));
        digits.collect()
    }

    /// Reads a hash from its hexadecimal digits; `None` for any other text.
    pub fn from_hex(text: &str) -> Option<Self> {
        let is_hex = text.len() == Self::DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_hex {
            return None;
        }
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * place..2 * place + 2)?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_as_text_reads_back() {
        let hash = TokenHash::new(std::array::from_fn(|i| u8::try_from(i * 7).unwrap()));
        let text = hash.to_hex();
        assert_eq!(text.len(), 64);
        assert!(TokenHash::from_hex(&text) == Some(hash));
        assert_eq!(TokenHash::new([0xa5; 32]).to_hex(), "a5".repeat(32));
        for other in [
            "",
            "a5",
            &"+5".repeat(32),
            &"é".repeat(32),
            &format!("{text}a"),
        ] {
            assert!(TokenHash::from_hex(other).is_none(), "{other}");
        }
    }
}
