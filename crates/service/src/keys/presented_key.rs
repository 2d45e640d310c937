//! The API key of a call, and the caller that it turned out to belong to.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use refract_domain::ids::ApiKeyId;

use crate::keys::api_key::ApiKey;

/// The id of a call's API key, once the key was found, even if it is revoked. Clones share it, so
/// that the call's log line can name the caller however the call ends.
#[derive(Clone, Debug, Default)]
pub struct CallKeyId(Arc<OnceLock<ApiKeyId>>);

impl CallKeyId {
    /// The id; `None` for a call without a key that exists or existed.
    pub fn get(&self) -> Option<ApiKeyId> {
        self.0.get().copied()
    }

    fn found(&self, id: ApiKeyId) {
        // a call has one key
        let _ = self.0.set(id);
    }
}

/// The key of a call, and the call's client.
pub struct PresentedKey {
    /// `None` when the bearer token does not have the shape of a key.
    key: Option<ApiKey>,
    id: CallKeyId,
    client: Option<IpAddr>,
}

impl PresentedKey {
    /// A key whose id is written to `id` once it is known, of a client at this address.
    pub fn new(key: Option<ApiKey>, id: CallKeyId, client: Option<IpAddr>) -> Self {
        Self { key, id, client }
    }

    /// The address of the client, if it is known.
    pub(crate) fn client(&self) -> Option<IpAddr> {
        self.client
    }

    pub(crate) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// Records the id of the key.
    pub(crate) fn is_of(&self, id: ApiKeyId) {
        self.id.found(id);
    }
}
