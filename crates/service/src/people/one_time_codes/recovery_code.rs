//! Recovery codes: single-use codes for people who lost their device.

use refract_domain::account::secret_hash::TokenHash;
use sha2::{Digest as _, Sha256};
use totp_rs::Secret;

use crate::people::secrets::{SecretError, random_bytes};

/// Random bytes of a code: 80 bits need no slow hash.
const BYTES: usize = 10;
/// Characters of a code in base 32.
const CHARACTERS: usize = 16;
/// Characters between two hyphens.
const GROUP: usize = 4;
/// Codes that a person gets.
const CODES: usize = 10;

/// A recovery code. The database stores its hash. It has no `Debug` and no `Display`, so that no
/// log shows one by accident.
#[derive(Clone)]
pub struct RecoveryCode(String);

impl RecoveryCode {
    /// Reads a code without hyphens and spaces; `None` for a text without the shape of a code.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || (b'2'..=b'7').contains(&byte);
        (text.len() == CHARACTERS && text.bytes().all(is_letter)).then_some(Self(text))
    }

    /// As many codes as a person gets.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub(super) fn make_all() -> Result<Vec<Self>, SecretError> {
        let one = |_| {
            let random: [u8; BYTES] = random_bytes()?;
            let text = Secret::new(Box::new(random)).to_base32();
            Ok(Self(text.to_ascii_lowercase()))
        };
        (0..CODES).map(one).collect()
    }

    /// The code as text, with hyphens.
    pub fn reveal(&self) -> String {
        grouped(&self.0, "-")
    }

    /// The hash that is stored in place of the code.
    pub(super) fn hash(&self) -> TokenHash {
        let hash = Sha256::new().chain_update("recovery code ");
        TokenHash::new(hash.chain_update(self.0.as_bytes()).finalize().into())
    }
}

/// A text of base 32 in groups of four.
pub(super) fn grouped(text: &str, between: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let groups = letters.chunks(GROUP).map(String::from_iter);
    groups.collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_different_codes_are_made() {
        let codes = RecoveryCode::make_all().unwrap();
        let mut texts: Vec<_> = codes.iter().map(RecoveryCode::reveal).collect();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), 10);
        for code in codes {
            let text = code.reveal();
            assert_eq!(text.len(), 19, "{text}");
            let plain = text.replace('-', "").to_ascii_uppercase();
            assert!(RecoveryCode::parse(&plain).unwrap().hash() == code.hash());
        }
    }
}
