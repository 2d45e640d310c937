//! API keys: created, listed, revoked, and the access that a call's key gives.

pub mod api_key;
mod authentication;
mod change;
mod key_uses;
mod list;
pub(crate) mod presented_key;
mod save_uses;

pub use self::change::KeyError;
pub(crate) use self::key_uses::KeyUses;
pub use self::list::ListedKey;
pub use self::presented_key::{CallKeyId, PresentedKey};
use crate::Refract;

/// The use cases of API keys, from [`Refract::keys`](crate::Refract::keys).
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// API keys.
    pub fn keys(&self) -> Keys<'_> {
        Keys { refract: self }
    }
}
