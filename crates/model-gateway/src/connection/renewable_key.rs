//! The API key from a file. The file is read again when a model server refuses the key.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use hyper::header::HeaderValue;

use crate::settings::ModelApiKey;
use crate::settings::setting_error::SettingError;

/// A key that may change while the process runs, shared by all threads.
pub(crate) struct RenewableKey {
    file: Arc<Path>,
    current: RwLock<CurrentKey>,
}

struct CurrentKey {
    bearer: HeaderValue,
    /// How often the key has changed.
    generation: u64,
}

impl RenewableKey {
    /// Reads the key; `None` if it does not come from a file.
    pub(crate) fn of(key: &ModelApiKey) -> Result<Option<Arc<Self>>, SettingError> {
        let Some(file) = key.file() else {
            return Ok(None);
        };
        let current = CurrentKey {
            bearer: key.to_bearer()?,
            generation: 0,
        };
        Ok(Some(Arc::new(Self {
            file: Arc::clone(file),
            current: RwLock::new(current),
        })))
    }

    /// The header value with the current key.
    pub(crate) fn bearer(&self) -> HeaderValue {
        let current = self.current.read();
        let current = current.unwrap_or_else(PoisonError::into_inner);
        current.bearer.clone()
    }

    /// How often the key has changed so far.
    pub(crate) fn generation(&self) -> u64 {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).generation
    }

    /// Whether the key has changed since the generation `refused`. Reads the file unless a newer
    /// key is known.
    pub(crate) fn is_renewed_since(&self, refused: u64) -> bool {
        let current = self.current.write();
        let mut current = current.unwrap_or_else(PoisonError::into_inner);
        if current.generation > refused {
            return true;
        }
        let read = match ModelApiKey::in_file(&self.file) {
            Ok(key) => key.to_bearer().ok(),
            Err(error) => {
                tracing::warn!(%error, "the model server refuses its API key, and there is no other");
                None
            }
        };
        match read {
            Some(bearer) if bearer != current.bearer => {
                current.bearer = bearer;
                current.generation += 1;
                tracing::info!("the model server's API key was read again from its file");
                true
            }
            Some(_) | None => false,
        }
    }
}

impl std::fmt::Debug for RenewableKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RenewableKey(..)")
    }
}
