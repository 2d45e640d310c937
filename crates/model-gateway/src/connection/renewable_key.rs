//! The API key from a file. The file is read again when a model server refuses the key.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use hyper::header::{HeaderName, HeaderValue};

use crate::settings::{ModelApiKey, ModelKeyHeader, SettingError};

/// A key that may change while the process runs, shared by all threads.
pub(crate) struct RenewableKey {
    file: Arc<Path>,
    header: ModelKeyHeader,
    current: RwLock<CurrentKey>,
}

struct CurrentKey {
    /// The value of the header.
    value: HeaderValue,
    /// How often the key has changed.
    generation: u64,
}

impl RenewableKey {
    /// Reads the key; `None` if it does not come from a file.
    pub(crate) fn of(key: &ModelApiKey) -> Result<Option<Arc<Self>>, SettingError> {
        let Some(file) = key.file() else {
            return Ok(None);
        };
        let header = key.sending_header();
        let current = CurrentKey {
            value: header.value(key.as_str())?,
            generation: 0,
        };
        Ok(Some(Arc::new(Self {
            file: Arc::clone(file),
            header,
            current: RwLock::new(current),
        })))
    }

    /// Name and value of the header that carries the current key.
    pub(crate) fn entry(&self) -> (HeaderName, HeaderValue) {
        let current = self.current.read();
        let current = current.unwrap_or_else(PoisonError::into_inner);
        (self.header.name().clone(), current.value.clone())
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
            Ok(key) => self.header.value(key.as_str()).ok(),
            Err(error) => {
                tracing::warn!(%error, "the model server refuses its API key, and there is no other");
                None
            }
        };
        match read {
            Some(value) if value != current.value => {
                current.value = value;
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
