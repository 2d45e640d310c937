//! Collects when each API key was last used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use refract_domain::ids::ApiKeyId;

/// The moments at which keys were last used, collected in memory and saved together: a call writes
/// nothing to the database for its key.
///
/// A crash loses the last uses of a few seconds, and nothing else. Clones share one collection.
#[derive(Clone, Default)]
pub(crate) struct KeyUses(Arc<Mutex<HashMap<ApiKeyId, DateTime<Utc>>>>);

impl KeyUses {
    /// Records that a key is used now.
    pub(crate) fn note(&self, key: ApiKeyId) {
        self.collected().insert(key, Utc::now());
    }

    /// The uses that are not saved yet.
    pub(super) fn collected(&self) -> MutexGuard<'_, HashMap<ApiKeyId, DateTime<Utc>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
