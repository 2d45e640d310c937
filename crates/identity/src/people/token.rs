//! Secrets of people and programs: random texts, and tokens of links and cookies, shown once and
//! stored as a hash.

use rand::TryRng as _;
use rand::rngs::SysRng;
use refract_domain::account::secret_hash::TokenHash;
use sha2::{Digest as _, Sha256};

/// Characters of a token, of 6 random bits each: 258 bits.
const CHARACTERS: usize = 43;

/// The secret of a link or a session. It has no `Debug` and no `Display`, so that no log shows one
/// by accident.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Makes a token from random bytes, one character from each.
    pub fn from_random(random: [u8; CHARACTERS]) -> Self {
        Self(from_random(&random).collect())
    }

    /// Parses a token from a link or a cookie; `None` for a text without the shape of a token.
    pub fn parse(text: &str) -> Option<Self> {
        has_shape(text, CHARACTERS).then(|| Self(text.to_owned()))
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

/// Why a secret could not be made or checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The operating system gave no random numbers.
    #[error("the system gives no random numbers for a secret")]
    NoRandomness,
    /// A password could not be hashed: no memory, or an invalid saved hash.
    #[error("a password cannot be hashed")]
    NotHashed,
    /// The queue for hashing passwords is full.
    #[error("too many passwords are being checked at this moment: try again in a few seconds")]
    Busy,
}

/// Random bytes that nobody can guess.
pub(crate) fn random_bytes<const BYTES: usize>() -> Result<[u8; BYTES], SecretError> {
    let mut random = [0_u8; BYTES];
    SysRng
        .try_fill_bytes(&mut random)
        .map_err(|_| SecretError::NoRandomness)?;
    Ok(random)
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes 6 bits of each random byte as one character.
pub(crate) fn from_random(random: &[u8]) -> impl Iterator<Item = char> {
    let letters = random
        .iter()
        .filter_map(|byte| ALPHABET.get(usize::from(byte & 63)));
    letters.map(|letter| char::from(*letter))
}

/// Whether a text has this many characters, all of them from the alphabet of random texts.
pub(crate) fn has_shape(text: &str, characters: usize) -> bool {
    text.len() == characters && text.bytes().all(|byte| ALPHABET.contains(&byte))
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
