//! Codes: as they were typed, compared with a secret (SHA-1, six digits, steps of 30 seconds, which
//! every authenticator app makes), and recovery codes for people who lost their device.

use refract_domain::account::{OneTimeSecret, TokenHash};
use refract_persistence::{CodeProof, PersistenceError};
use unicode_normalization::UnicodeNormalization as _;

use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};
use totp_rs::{Builder, Secret, Totp};

use crate::people::secrets::{SecretError, random_bytes};
use crate::people::sign_in_error::SignInError;

/// Bytes that are read of a typed code: many more than any code has.
const MOST_BYTES: usize = 200;
/// Digits of a one-time code.
const DIGITS: usize = 6;
/// Random bytes of a code: 80 bits need no slow hash.
const BYTES: usize = 10;
/// Characters of a code in base 32.
const CHARACTERS: usize = 16;
/// Characters between two hyphens.
const GROUP: usize = 4;
/// Codes that a person gets.
const CODES: usize = 10;

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

/// The step since 1970 whose code this is; `None` for a wrong code. The step before this moment's
/// and the one after are accepted too, since clocks differ and typing takes time.
fn step_of_code(secret: OneTimeSecret, code: &str, now: DateTime<Utc>) -> Option<i64> {
    let seconds = u64::try_from(now.timestamp()).ok()?;
    let step = codes(secret).check(code, seconds)?;
    i64::try_from(step).ok()
}

/// The secret as text in base 32, as apps read it.
pub(super) fn secret_text(secret: OneTimeSecret) -> String {
    Secret::new_stack(secret.bytes()).to_base32()
}

/// The crate's defaults are the values above; nothing about them could be invalid.
fn codes(secret: OneTimeSecret) -> Totp {
    let builder = Builder::new().with_secret(Secret::new_stack(secret.bytes()));
    builder.build_noncompliant()
}

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

/// Why a one-time code did not do what it was typed for. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// The text cannot be a code. It does not count as a wrong one.
    #[error("a code has 6 digits, a recovery code has 16 letters and digits")]
    NoCode,
    /// The code is wrong, or it was used before.
    #[error("this code is wrong or was used before: type the next one that your app shows")]
    Wrong,
    /// There were too many wrong codes.
    #[error(transparent)]
    Blocked(SignInError),
    /// The sign-in is no longer pending.
    #[error("this sign-in took over 5 minutes or had too many wrong codes: sign in again")]
    Over,
    /// The password that came with the code is wrong, or the try was blocked.
    #[error(transparent)]
    Password(SignInError),
    /// The codes were switched on or off meanwhile, or another set-up was begun.
    #[error("your one-time codes were changed meanwhile: look at them again")]
    Meanwhile,
    /// A secret could not be made or checked.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl CodeError {
    /// The error of a code try.
    pub(crate) fn of_code(error: SignInError) -> Self {
        match error {
            SignInError::Wrong => Self::Wrong,
            SignInError::PasswordsOff
            | SignInError::TooManyTries { .. }
            | SignInError::Slowed { .. } => Self::Blocked(error),
            SignInError::Secret(error) => Self::Secret(error),
            SignInError::Persistence(error) => Self::Persistence(error),
        }
    }

    /// The error of the password that came with a code.
    pub(crate) fn of_password(error: SignInError) -> Self {
        match error {
            SignInError::Wrong
            | SignInError::PasswordsOff
            | SignInError::TooManyTries { .. }
            | SignInError::Slowed { .. } => Self::Password(error),
            SignInError::Secret(error) => Self::Secret(error),
            SignInError::Persistence(error) => Self::Persistence(error),
        }
    }

    /// Seconds after which it makes sense to try again; `None` where that is not known.
    pub fn retry_after(&self, now: DateTime<Utc>) -> Option<u64> {
        match self {
            Self::Blocked(error) | Self::Password(error) => error.retry_after(now),
            Self::NoCode
            | Self::Wrong
            | Self::Over
            | Self::Meanwhile
            | Self::Secret(_)
            | Self::Persistence(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

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

    /// The secret of the test vectors in RFC 6238, appendix B.
    const SECRET: OneTimeSecret = OneTimeSecret::new(*b"12345678901234567890");

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    #[test]
    fn the_codes_are_those_of_rfc_6238() {
        // the vectors have eight digits, of which these are the last six
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            let step = step_of_code(SECRET, code, at(seconds));
            assert_eq!(step, Some(seconds / 30), "{seconds}");
        }
        assert_eq!(secret_text(SECRET), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }

    #[test]
    fn a_clock_may_be_off_by_one_step_and_not_by_two() {
        let (code, second) = ("005924", 1_234_567_890);
        let step = Some(second / 30);
        for (off, expected) in [
            (-60, None),
            (-31, None),
            (-30, step),
            (-1, step),
            (0, step),
            (29, step),
            (59, step),
            (60, None),
        ] {
            let seconds = second / 30 * 30 + off;
            assert_eq!(step_of_code(SECRET, code, at(seconds)), expected, "{off}");
        }
    }

    #[test]
    fn what_is_no_code_is_wrong() {
        for wrong in ["", "005925", "5924", "0005924", "+05924", "00592४"] {
            let found = step_of_code(SECRET, wrong, at(1_234_567_890));
            assert_eq!(found, None, "{wrong}");
        }
        assert_eq!(step_of_code(SECRET, "287082", at(-59)), None);
        let other = OneTimeSecret::new([7; 20]);
        assert_eq!(step_of_code(other, "005924", at(1_234_567_890)), None);
    }

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
