//! Secrets of people and programs: random texts, and tokens of links and cookies, shown once and
//! stored as a hash. Hashes of passwords: argon2id with the parameters that OWASP recommends, 19
//! MiB and two passes.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use rand::TryRng as _;
use rand::rngs::SysRng;
use refract_domain::account::{Email, TokenHash};
use refract_domain::problem::ValidationError;
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::permit_queue::{Applicant, PermitQueue, QueueLimits, QueuePermit};
use crate::people::password::{Password, TypedPassword};

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

/// Limits on concurrent password hashes and on waiters. A hash takes a core and 19 MiB for about
/// ten milliseconds, so the waiters of one network are a tenth of a second of work, and all waiters
/// are less than three seconds. Requests beyond the limits are refused and may be retried.
const LIMITS: QueueLimits = QueueLimits {
    at_once: 2,
    of_network: 16,
    of_networks: 256,
    of_person: 2,
    of_people: 64,
};

/// The queue of this process.
static PLACES: PermitQueue = PermitQueue::new(LIMITS);

/// A permit to hash a password, returned when it is dropped.
pub(super) struct HashPlace {
    permit: QueuePermit,
}

/// Salt of the hash that is computed for an unknown address.
const DECOY_SALT: &[u8] = b"nobody has this!";

impl HashPlace {
    /// Waits for a permit in the queue of this process.
    ///
    /// # Errors
    /// When the queue has no room.
    pub(super) async fn take(applicant: Applicant) -> Result<Self, SecretError> {
        let permit = PLACES.permit(applicant).await;
        let permit = permit.map_err(|_| SecretError::Busy)?;
        Ok(Self { permit })
    }

    /// The hash of a password with a new salt, in the PHC string format.
    ///
    /// # Errors
    /// When there is no memory, or no randomness for the salt.
    pub(super) async fn hash(self, password: Password) -> Result<String, SecretError> {
        self.off_thread(move || {
            let salt: [u8; 16] = random_bytes()?;
            let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
            Ok(hash.map_err(|_| SecretError::NotHashed)?.to_string())
        })
        .await
    }

    /// Whether a password matches this hash. Without a hash it is wrong, after the same amount of
    /// work.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) async fn verify(
        self,
        password: TypedPassword,
        hash: Option<String>,
    ) -> Result<bool, SecretError> {
        self.off_thread(move || {
            let argon2 = Argon2::default();
            let password = password.normalized();
            let password = password.as_bytes();
            let Some(hash) = hash else {
                let decoy = argon2.hash_password_with_salt(password, DECOY_SALT);
                std::hint::black_box(decoy).map_err(|_| SecretError::NotHashed)?;
                return Ok(false);
            };
            let hash = PasswordHash::new(&hash).map_err(|_| SecretError::NotHashed)?;
            Ok(argon2.verify_password(password, &hash).is_ok())
        })
        .await
    }

    /// Runs work on a thread that may block.
    async fn off_thread<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T, SecretError> + Send + 'static,
    ) -> Result<T, SecretError> {
        let working = spawn_blocking(move || {
            // held until the work has ended, even when the caller was cancelled
            let _held = self.permit;
            work()
        });
        working.await.map_err(|_| SecretError::NotHashed)?
    }
}

/// Checks a password chosen by a person with this address and name, on a thread that may block:
/// normalising it takes time.
///
/// # Errors
/// When the thread cannot be used.
pub(super) async fn choose_password(
    typed: TypedPassword,
    email: &Email,
    name: &str,
) -> Result<Result<Password, Vec<ValidationError>>, SecretError> {
    let (email, name) = (email.clone(), name.to_owned());
    let choosing = spawn_blocking(move || Password::choose(&typed, email.as_str(), &name));
    choosing.await.map_err(|_| SecretError::NotHashed)
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

    fn typed(text: &str) -> TypedPassword {
        TypedPassword::new(text)
    }

    fn applicant() -> Applicant {
        Applicant::Network("tests".to_owned())
    }

    async fn is_right(text: &str, hash: Option<&str>) -> Result<bool, SecretError> {
        let place = HashPlace::take(applicant()).await?;
        place.verify(typed(text), hash.map(str::to_owned)).await
    }

    #[tokio::test]
    async fn a_password_is_right_for_its_own_hash_alone() {
        let password = Password::choose(&typed("zy%3kQ9 d_ab"), "a@b", "Ada").unwrap();
        let hash = async |password| {
            let place = HashPlace::take(applicant()).await.unwrap();
            place.hash(password).await.unwrap()
        };
        let one = hash(password.clone()).await;
        let other = hash(password).await;
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other, "each has a salt of its own");
        assert_eq!(is_right("zy%3kQ9 d_ab", Some(&one)).await, Ok(true));
        assert_eq!(is_right("zy%3kQ9 d_aB", Some(&one)).await, Ok(false));
        assert_eq!(is_right("zy%3kQ9 d_ab", None).await, Ok(false));
        let broken = is_right("x", Some("no hash")).await;
        assert_eq!(broken, Err(SecretError::NotHashed));
    }
}
