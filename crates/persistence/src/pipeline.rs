//! A PostgreSQL connection over which one thread sends all its reads without waiting for answers.
//!
//! Pipelined reads cost both sides a fraction of what they cost one at a time: neither wakes up
//! for every single one. The connection's bytes are moved by the thread that uses it, so it must
//! not be lent to another: that one would stand still whenever the first is busy.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::database::WAIT;
use crate::error::PersistenceError;
use crate::postgres::{Connections, Open};

/// How long an answer is waited for: those behind it wait as long.
pub(crate) const ANSWER: Duration = WAIT;

/// The place of a connection, which is opened when it is needed and again when it broke.
pub(crate) struct Pipeline {
    connections: Arc<Connections>,
    open: RwLock<Option<Arc<Open>>>,
    /// Held while the connection is opened; whether it was taken from the lease for this place.
    is_taken: Mutex<bool>,
}

impl Pipeline {
    /// A place without a connection.
    pub(crate) fn new(connections: &Arc<Connections>) -> Self {
        Self {
            connections: Arc::clone(connections),
            open: RwLock::default(),
            is_taken: Mutex::new(false),
        }
    }

    /// The connection; `None` when the caller has to lease one, because another caller opens this
    /// one, which may take long, or because too few are left to take it from.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) async fn connection(&self) -> Result<Option<Arc<Open>>, PersistenceError> {
        if let Some(open) = self.open() {
            return Ok(Some(open));
        }
        let Ok(mut is_taken) = self.is_taken.try_lock() else {
            return Ok(None);
        };
        *is_taken = *is_taken || self.connections.take();
        if !*is_taken {
            return Ok(None);
        }
        let opening = timeout(WAIT, self.connections.server.connect()).await;
        let opening = opening.map_err(|_| unavailable("it does not answer"))?;
        let open = Arc::new(opening.map_err(|error| unavailable(&error.to_string()))?);
        self.put(Some(Arc::clone(&open)));
        Ok(Some(open))
    }

    /// Lets no more queries onto a connection that has stopped answering.
    pub(crate) fn abandon(&self) {
        self.put(None);
    }

    fn open(&self) -> Option<Arc<Open>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().filter(|open| !open.is_closed()).cloned()
    }

    fn put(&self, connection: Option<Arc<Open>>) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = connection;
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        if *self.is_taken.get_mut() {
            self.connections.give_back();
        }
    }
}

fn unavailable(why: &str) -> PersistenceError {
    PersistenceError::Unavailable(why.to_owned())
}
