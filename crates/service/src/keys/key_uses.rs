//! Collects when and from where each API key was last used.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use refract_domain::ids::ApiKeyId;

/// A moment and, if it is known, the client's address.
pub(super) type LastUse = (DateTime<Utc>, Option<IpAddr>);

/// The last uses of keys, collected in memory and saved together: a call writes nothing to the
/// database for its key.
///
/// A crash loses the last uses of a few seconds, and nothing else. Clones share one collection.
#[derive(Clone, Default)]
pub(crate) struct KeyUses(Arc<Mutex<HashMap<ApiKeyId, LastUse>>>);

impl KeyUses {
    /// Records that a key is used now by a client at this address.
    pub(crate) fn note(&self, key: ApiKeyId, client: Option<IpAddr>) {
        self.collected().insert(key, (Utc::now(), client));
    }

    /// The uses that are not saved yet.
    pub(super) fn collected(&self) -> MutexGuard<'_, HashMap<ApiKeyId, LastUse>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
