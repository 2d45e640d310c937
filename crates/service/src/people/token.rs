//! Tokens of links and cookies: shown once, stored as a hash.

use refract_domain::account::secret_hash::TokenHash;
use sha2::{Digest as _, Sha256};

use crate::people::random_text;

/// Characters of a token, of 6 random bits each: 258 bits.
const CHARACTERS: usize = 43;

/// The secret of a link or a session. It has no `Debug` and no `Display`, so that no log shows one
/// by accident.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Makes a token from random bytes, one character from each.
    pub fn from_random(random: [u8; CHARACTERS]) -> Self {
        Self(random_text::from_random(&random).collect())
    }

    /// Parses a token from a link or a cookie; `None` for a text without the shape of a token.
    pub fn parse(text: &str) -> Option<Self> {
        random_text::has_shape(text, CHARACTERS).then(|| Self(text.to_owned()))
    }

    /// The token as text, for the link or the cookie. Its characters need no escaping in either.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash that is stored in place of the token.
    pub fn hash(&self) -> TokenHash {
        TokenHash::new(Sha256::digest(self.0.as_bytes()).into())
    }

    /// A key of this token's own, which encrypts what only its bearer may have read. It cannot be
    /// computed from the stored hashes.
    pub(crate) fn sealing_key(&self) -> [u8; 32] {
        let hash = Sha256::new().chain_update("refract seals with ");
        hash.chain_update(self.0.as_bytes()).finalize().into()
    }

    /// The hash that is stored for a token that signs in at once. It differs from [`Token::hash`]
    /// (domain separation), so that a link to choose a password cannot sign in without one.
    pub fn sign_in_hash(&self) -> TokenHash {
        let hash = Sha256::new().chain_update("sign in ");
        TokenHash::new(hash.chain_update(self.0.as_bytes()).finalize().into())
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
