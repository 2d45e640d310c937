//! Hashes of passwords: argon2id with the parameters that OWASP advises, 19 MiB and two passes.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use refract_domain::password::{Password, TypedPassword};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::secrets::{SecretFailed, random_bytes};

/// Passwords that are hashed at once. A hash takes a core and 19 MiB for some ten milliseconds.
const AT_ONCE: usize = 2;
/// Passwords that wait for their turn at most: about a second of work. Those who come when all of
/// these places are taken are told to come back, however many they are.
const WAITING: usize = 32;

/// The places of this process.
static PLACES: HashPlaces = HashPlaces::new(AT_ONCE, WAITING);

/// Who hashes a password now, and who may wait for it.
struct HashPlaces {
    turns: Semaphore,
    places: Semaphore,
}

/// A place among those who may wait to hash a password. It is given back when it is dropped.
pub(super) struct HashPlace {
    turns: &'static Semaphore,
    place: SemaphorePermit<'static>,
}

/// Salt of the hash that is made for an address that nobody has.
const DECOY_SALT: &[u8] = b"nobody has this!";

impl HashPlaces {
    const fn new(at_once: usize, waiting: usize) -> Self {
        Self {
            turns: Semaphore::const_new(at_once),
            places: Semaphore::const_new(at_once + waiting),
        }
    }

    fn take(&'static self) -> Result<HashPlace, SecretFailed> {
        let place = self.places.try_acquire().map_err(|_| SecretFailed::Busy)?;
        Ok(HashPlace {
            turns: &self.turns,
            place,
        })
    }
}

impl HashPlace {
    /// Takes a place among those of this process.
    ///
    /// # Errors
    /// When all places are taken.
    pub(super) fn take() -> Result<Self, SecretFailed> {
        PLACES.take()
    }

    /// The hash of a password with a new salt, in the PHC string format.
    ///
    /// # Errors
    /// When there is no memory, or no randomness for the salt.
    pub(super) async fn hash(self, password: Password) -> Result<String, SecretFailed> {
        self.off_thread(move || {
            let salt: [u8; 16] = random_bytes()?;
            let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
            Ok(hash.map_err(|_| SecretFailed::NotHashed)?.to_string())
        })
        .await
    }

    /// Whether a password is the one of this hash. Without a hash it is wrong, after as much work.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) async fn verify(
        self,
        password: TypedPassword,
        hash: Option<String>,
    ) -> Result<bool, SecretFailed> {
        self.off_thread(move || {
            let argon2 = Argon2::default();
            let password = password.normalized();
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
        self,
        work: impl FnOnce() -> Result<T, SecretFailed> + Send + 'static,
    ) -> Result<T, SecretFailed> {
        let Self { turns, place } = self;
        let turn = turns.acquire().await.map_err(|_| SecretFailed::NotHashed)?;
        let working = tokio::task::spawn_blocking(move || {
            // held until the work has ended, also when nobody waits for it any more
            let _held = (turn, place);
            work()
        });
        working.await.map_err(|_| SecretFailed::NotHashed)?
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    static FEW: HashPlaces = HashPlaces::new(1, 1);

    fn typed(text: &str) -> TypedPassword {
        TypedPassword::new(text)
    }

    async fn is_right(text: &str, hash: Option<&str>) -> Result<bool, SecretFailed> {
        let place = HashPlace::take()?;
        place.verify(typed(text), hash.map(str::to_owned)).await
    }

    #[tokio::test]
    async fn a_password_is_right_for_its_own_hash_alone() {
        let password = Password::choose(&typed("zy%3kQ9 d_ab"), "a@b", "Ada").unwrap();
        let hash = async |password| HashPlace::take().unwrap().hash(password).await.unwrap();
        let one = hash(password.clone()).await;
        let other = hash(password).await;
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, other, "each has a salt of its own");
        assert_eq!(is_right("zy%3kQ9 d_ab", Some(&one)).await, Ok(true));
        assert_eq!(is_right("zy%3kQ9 d_aB", Some(&one)).await, Ok(false));
        assert_eq!(is_right("zy%3kQ9 d_ab", None).await, Ok(false));
        let broken = is_right("x", Some("no hash")).await;
        assert_eq!(broken, Err(SecretFailed::NotHashed));
    }

    #[tokio::test]
    async fn who_finds_no_place_is_told_at_once_and_whoever_leaves_makes_room() {
        let (go, waits) = mpsc::channel::<()>();
        let working = FEW.take().unwrap().off_thread(move || {
            waits.recv().unwrap();
            Ok(1)
        });
        let working = tokio::spawn(working);
        let waiting = tokio::spawn(FEW.take().unwrap().off_thread(|| Ok(2)));
        assert_eq!(FEW.take().err(), Some(SecretFailed::Busy));
        go.send(()).unwrap();
        assert_eq!(working.await.unwrap(), Ok(1));
        assert_eq!(waiting.await.unwrap(), Ok(2));
        // somebody who goes away while waiting leaves the place
        drop(FEW.take().unwrap());
        drop((FEW.take().unwrap(), FEW.take().unwrap()));
        assert!(FEW.take().is_ok());
    }
}
