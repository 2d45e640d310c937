//! Hashes of passwords: argon2id with the parameters that OWASP advises, 19 MiB and two passes.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use refract_domain::password::{Password, TypedPassword};
use tokio::sync::Semaphore;

use crate::secrets::{SecretFailed, random_bytes};

/// Who hashes now. A hash takes a core and 19 MiB for some ten milliseconds, so that at most two are
/// made at once in a process, however many people sign in.
static TURNS: Semaphore = Semaphore::const_new(2);

/// Salt of the hash that is made for an address that nobody has.
const DECOY_SALT: &[u8] = b"nobody has this!";

/// The hash of a password with a new salt, in the PHC string format.
///
/// # Errors
/// When there is no memory, or no randomness for the salt.
pub(super) async fn hash(password: Password) -> Result<String, SecretFailed> {
    off_thread(move || {
        let salt: [u8; 16] = random_bytes()?;
        let hash = Argon2::default().hash_password_with_salt(password.typed().as_bytes(), &salt);
        Ok(hash.map_err(|_| SecretFailed::NotHashed)?.to_string())
    })
    .await
}

/// Whether a password is the one of this hash. Without a hash it is wrong, after as much work.
///
/// # Errors
/// When there is no memory.
pub(super) async fn is_right(
    password: TypedPassword,
    hash: Option<String>,
) -> Result<bool, SecretFailed> {
    off_thread(move || {
        let argon2 = Argon2::default();
        let password = password.as_bytes();
        let Some(hash) = hash else {
            let decoy = argon2.hash_password_with_salt(password, DECOY_SALT);
            std::hint::black_box(decoy).map_err(|_| SecretFailed::NotHashed)?;
            return Ok(false);
        };
        let hash = PasswordHash::new(&hash).map_err(|_| SecretFailed::NotHashed)?;
        Ok(argon2.verify_password(password, &hash).is_ok())
    })
    .await
}

/// Runs work on a thread that may be blocked, when it is its turn.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SecretFailed> + Send + 'static,
) -> Result<T, SecretFailed> {
    let turn = TURNS.acquire().await.map_err(|_| SecretFailed::NotHashed)?;
    let working = tokio::task::spawn_blocking(move || {
        // held until the work has ended, also when nobody waits for it any more
        let _turn = turn;
        work()
    });
    working.await.map_err(|_| SecretFailed::NotHashed)?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> TypedPassword {
        TypedPassword::new(text)
    }

    #[tokio::test]
    async fn a_password_is_right_for_its_own_hash_alone() {
        let password = Password::choose(typed("zy%3kQ9 d_ab"), "a@b", "Ada").unwrap();
        let one = hash(password.clone()).await.unwrap();
        let other = hash(password).await.unwrap();
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other, "each has a salt of its own");
        assert!(
            is_right(typed("zy%3kQ9 d_ab"), Some(one.clone()))
                .await
                .unwrap()
        );
        assert!(!is_right(typed("zy%3kQ9 d_aB"), Some(one)).await.unwrap());
        assert!(!is_right(typed("zy%3kQ9 d_ab"), None).await.unwrap());
        let broken = Some("no hash".to_owned());
        assert_eq!(
            is_right(typed("x"), broken).await,
            Err(SecretFailed::NotHashed)
        );
    }
}
