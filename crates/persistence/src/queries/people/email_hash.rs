//! The hash by which sign-in tries are counted.

use refract_domain::account::person::Email;
use sha2::{Digest as _, Sha256};

/// SHA-256 of a typed address: the addresses that strangers try are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmailHash(pub [u8; 32]);

impl EmailHash {
    /// The hash of an address.
    pub fn of(email: &Email) -> Self {
        Self(Sha256::digest(email.as_str().as_bytes()).into())
    }
}
