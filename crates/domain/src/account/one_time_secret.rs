//! The secret of a person's one-time codes.

use std::fmt;

/// The secret that the database and a person's device share: 160 bits, as RFC 4226 recommends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OneTimeSecret([u8; 20]);

impl OneTimeSecret {
    /// The secret with these bytes.
    pub const fn new(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The bytes of the secret.
    pub const fn bytes(self) -> [u8; 20] {
        self.0
    }
}

/// Hides the secret, so that no log shows one by accident.
impl fmt::Debug for OneTimeSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OneTimeSecret(…)")
    }
}
