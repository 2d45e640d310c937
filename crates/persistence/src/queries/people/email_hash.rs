//! The hash by which tries to sign in are counted.

use refract_domain::account::person::Email;
use sha2::{Digest as _, Sha256};

/// SHA-256 of an address that was typed: which addresses strangers try is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmailHash(pub [u8; 32]);

impl EmailHash {
    /// The hash of an address.
    pub fn of(email: &Email) -> Self {
        Self(Sha256::digest(email.as_str().as_bytes()).into())
    }
}
