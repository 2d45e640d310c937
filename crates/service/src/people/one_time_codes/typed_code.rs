//! A code as it was typed.

use refract_domain::account::one_time_secret::OneTimeSecret;
use refract_domain::account::secret_hash::TokenHash;
use refract_persistence::CodeProof;
use unicode_normalization::UnicodeNormalization as _;

use chrono::{DateTime, Utc};

use super::code_check::step_of_code;
use super::code_error::CodeError;
use super::recovery_code::RecoveryCode;

/// Bytes that are read of a typed code: many more than any code has.
const MOST_BYTES: usize = 200;
/// Digits of a one-time code.
const DIGITS: usize = 6;

/// A typed code: digits of an app, or a recovery code. It may be wrong.
pub(in crate::people) enum TypedCode {
    /// Six digits.
    OneTime(String),
    /// The hash of a text with the shape of a recovery code.
    Recovery(TokenHash),
}

impl TypedCode {
    /// Reads a typed code. Spaces, hyphens, case and the width of digits do not matter.
    ///
    /// # Errors
    /// [`CodeError::NoCode`] for a text that cannot be a code.
    pub(in crate::people) fn parse(text: &str) -> Result<Self, CodeError> {
        if text.len() > MOST_BYTES {
            return Err(CodeError::NoCode);
        }
        let plain: String = text
            .nfkc()
            .filter(|c| !c.is_whitespace() && *c != '-' && *c != '\u{2010}')
            .collect();
        if plain.len() == DIGITS && plain.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Self::OneTime(plain));
        }
        let recovery = RecoveryCode::parse(&plain).ok_or(CodeError::NoCode)?;
        Ok(Self::Recovery(recovery.hash()))
    }

    /// What proves that the code is right; `None` for wrong digits. Whether there is such a
    /// recovery code turns out when it is used.
    pub(super) fn proof(&self, secret: OneTimeSecret, now: DateTime<Utc>) -> Option<CodeProof> {
        match self {
            Self::OneTime(digits) => {
                let step = step_of_code(secret, digits, now)?;
                Some(CodeProof::Step { secret, step })
            }
            Self::Recovery(hash) => Some(CodeProof::Recovery(*hash)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_however_they_are_typed() {
        for typed in ["005924", " 005 924\n", "005-924", "００５９２４"] {
            let read = TypedCode::parse(typed);
            assert!(
                matches!(&read, Ok(TypedCode::OneTime(digits)) if digits == "005924"),
                "{typed}"
            );
        }
    }

    #[test]
    fn a_recovery_code_is_read_however_it_is_typed() {
        let code = RecoveryCode::parse("abcdefgh234567xy").unwrap();
        for typed in [code.reveal(), "ABCD efgh 2345 67xy ".to_owned()] {
            let read = TypedCode::parse(&typed);
            assert!(matches!(read, Ok(TypedCode::Recovery(hash)) if hash == code.hash()));
        }
    }

    #[test]
    fn other_texts_are_no_codes() {
        for typed in [
            "",
            "12345",
            "1234567",
            "abcdefgh234567x",
            "abcdefgh234567x1",
            &"1".repeat(1_000_000),
        ] {
            assert!(matches!(TypedCode::parse(typed), Err(CodeError::NoCode)));
        }
    }
}
