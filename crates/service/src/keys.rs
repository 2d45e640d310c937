//! API keys: created, listed, limited, replaced, revoked, and the access that a call's key gives.

pub mod api_key;
mod authentication;
mod change;
mod days_left;
mod find;
mod key_uses;
mod list;
mod metrics;
pub(crate) mod presented_key;
mod reminders;
mod replace;
mod save_uses;

pub use refract_persistence::SetNetworksOutcome;

pub use self::change::{KeyError, KeyLimits};
pub use self::find::FindKeyError;
pub(crate) use self::key_uses::KeyUses;
pub use self::list::ListedKey;
pub(crate) use self::metrics::{KeyMetrics, RefusedKey};
pub use self::presented_key::{CallKeyId, PresentedKey};
pub use self::reminders::{RemindedKey, reminders_of};
pub use self::replace::{KeyReplacement, OverlapDays, OverlapDaysError, ReplaceKeyError};
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
