//! Random numbers for secrets, from the operating system.

use rand::TryRng as _;
use rand::rngs::SysRng;

/// The operating system gave no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers for a secret")]
pub struct NoRandomness;

/// Random bytes that nobody can guess.
pub(crate) fn random_bytes<const BYTES: usize>() -> Result<[u8; BYTES], NoRandomness> {
    let mut random = [0_u8; BYTES];
    SysRng
        .try_fill_bytes(&mut random)
        .map_err(|_| NoRandomness)?;
    Ok(random)
}
