//! Random numbers for secrets, from the operating system.

use rand::TryRng as _;
use rand::rngs::SysRng;

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
