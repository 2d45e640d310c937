//! Tokens of links and cookies: shown once, stored as a hash.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::random_text;

/// Characters of a token, of 6 random bits each: 258 bits.
const CHARACTERS: usize = 43;

/// What opens a link or a session. It has no `Debug` and no `Display`, so that no log shows one by
/// accident.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Makes a token from random bytes, one character from each.
    pub fn from_random(random: [u8; CHARACTERS]) -> Self {
        Self(random_text::from_random(&random).collect())
    }

    /// Reads a token from a link or a cookie; `None` for a text that does not look like a token.
    pub fn parse(text: &str) -> Option<Self> {
        random_text::has_shape(text, CHARACTERS).then(|| Self(text.to_owned()))
    }

    /// The token as text, for the link or the cookie. Its characters need no escaping in either.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash that is stored in place of the token.
    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The hash that is stored in place of a token that signs in at once: another one than
    /// [`Token::hash`], so that a link to choose a password signs nobody in without one.
    pub fn sign_in_hash(&self) -> TokenHash {
        let hash = Sha256::new().chain_update("sign in ");
        TokenHash(hash.chain_update(self.0.as_bytes()).finalize().into())
    }
}

/// SHA-256 of a token: 258 random bits need no salt and no slow hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash(pub [u8; 32]);

impl TokenHash {
    /// Characters of a hash as text.
    const DIGITS: usize = 64;

    /// The hash as hexadecimal digits. It names a session to the person whose it is, and opens nothing.
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
    fn a_made_token_reads_back() {
        let token = Token::from_random(std::array::from_fn(|i| u8::try_from(i * 5).unwrap()));
        assert_eq!(token.reveal().len(), 43);
        assert!(Token::parse(token.reveal()).unwrap().hash() == token.hash());
        assert!(token.sign_in_hash() != token.hash());
        let other = Token::from_random([7; 43]);
        assert!(other.hash() != token.hash());
    }

    #[test]
    fn a_hash_as_text_reads_back() {
        let hash = Token::from_random([7; 43]).hash();
        let text = hash.to_hex();
        assert_eq!(text.len(), 64);
        assert!(TokenHash::from_hex(&text) == Some(hash));
        assert_eq!(TokenHash([0xa5; 32]).to_hex(), "a5".repeat(32));
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

    #[test]
    fn other_shapes_are_no_tokens() {
        let good = "a".repeat(43);
        assert!(Token::parse(&good).is_some());
        for bad in [
            "",
            &"a".repeat(42),
            &format!("{good}a"),
            &good.replacen('a', "/", 1),
        ] {
            assert!(Token::parse(bad).is_none(), "{bad}");
        }
    }
}
