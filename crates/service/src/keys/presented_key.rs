//! The API key that a call came with, and who its caller turned out to be.

use std::sync::{Arc, OnceLock};

use refract_domain::ids::ApiKeyId;

use crate::keys::api_key::ApiKey;

/// The id of a call's API key, once the key was found: revoked ones too. Clones share it, so that the
/// call's line in the log can name the caller however the call ends.
#[derive(Clone, Debug, Default)]
pub struct CallKeyId(Arc<OnceLock<ApiKeyId>>);

impl CallKeyId {
    /// The id; `None` for a call without a key that somebody has or had.
    pub fn get(&self) -> Option<ApiKeyId> {
        self.0.get().copied()
    }

    fn found(&self, id: ApiKeyId) {
        // a call has one key
        let _ = self.0.set(id);
    }
}

/// The key that a call came with.
pub struct PresentedKey {
    /// `None` when the bearer token does not have the shape of a key.
    key: Option<ApiKey>,
    id: CallKeyId,
}

impl PresentedKey {
    /// A key whose id is to be told to `id`.
    pub fn new(key: Option<ApiKey>, id: CallKeyId) -> Self {
        Self { key, id }
    }

    pub(crate) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// Notes whose key it is.
    pub(crate) fn is_of(&self, id: ApiKeyId) {
        self.id.found(id);
    }
}
