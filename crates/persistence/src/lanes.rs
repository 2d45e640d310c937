//! PostgreSQL connections of one thread, over which it sends without waiting for answers.
//!
//! Pipelined statements cost both sides a fraction of what they cost one at a time: neither wakes
//! up for every single one. The connections' bytes are moved by the thread that uses them, so they
//! must not be lent to another: that one would stand still whenever the first is busy.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::database::WAIT;
use crate::error::PersistenceError;
use crate::postgres::{Connections, Open};

/// Statements that write wait for the disk one after the other, so only so many go over one lane.
const WRITES_AT_ONCE: usize = 32;

/// The lanes of one thread.
pub(crate) struct Lanes {
    connections: Arc<Connections>,
    /// For all statements that read.
    reading: Lane,
    /// For statements that write.
    writing: Box<[Lane]>,
}

/// The place of a connection, which is opened when it is needed and again when it broke.
#[derive(Default)]
struct Lane {
    open: RwLock<Option<Arc<Open>>>,
    /// Held while the connection is opened; whether it was taken from the lease for this place.
    is_taken: Mutex<bool>,
}

impl Lanes {
    /// Up to this many lanes, at least one: the first is for reading. None is opened yet.
    pub(crate) fn new(connections: &Arc<Connections>, lanes: usize) -> Self {
        let writing = std::iter::repeat_with(Lane::default);
        Self {
            connections: Arc::clone(connections),
            reading: Lane::default(),
            writing: writing.take(lanes.saturating_sub(1)).collect(),
        }
    }

    /// The connection for a statement that reads; `None` when the caller has to lease one.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) async fn reader(&self) -> Result<Option<Arc<Open>>, PersistenceError> {
        self.reading.connection(&self.connections).await
    }

    /// The same for a statement that writes, on the emptiest lane.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) async fn writer(&self) -> Result<Option<Arc<Open>>, PersistenceError> {
        let emptiest = self.writing.iter().min_by_key(|lane| lane.in_flight());
        match emptiest {
            Some(lane) if lane.in_flight() < WRITES_AT_ONCE => {
                lane.connection(&self.connections).await
            }
            _ => Ok(None),
        }
    }

    /// Lets no more statements onto the reading lane's connection, which has stopped answering.
    pub(crate) fn abandon_reading(&self) {
        self.reading.put(None);
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        for lane in std::iter::once(&mut self.reading).chain(&mut self.writing) {
            if *lane.is_taken.get_mut() {
                self.connections.give_back();
            }
        }
    }
}

impl Lane {
    /// `None` while another caller opens the connection, which may take long, and when too few are
    /// left to take one from.
    async fn connection(
        &self,
        connections: &Connections,
    ) -> Result<Option<Arc<Open>>, PersistenceError> {
        if let Some(open) = self.open() {
            return Ok(Some(open));
        }
        let Ok(mut is_taken) = self.is_taken.try_lock() else {
            return Ok(None);
        };
        *is_taken = *is_taken || connections.take();
        if !*is_taken {
            return Ok(None);
        }
        // boxed: it is rare, and would weigh on every statement's future
        let opening = timeout(WAIT, Box::pin(connections.server.connect())).await;
        let opening = opening.map_err(|_| unavailable("it does not answer"))?;
        let open = Arc::new(opening.map_err(|error| unavailable(&error.to_string()))?);
        self.put(Some(Arc::clone(&open)));
        Ok(Some(open))
    }

    /// Statements under way.
    fn in_flight(&self) -> usize {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        // one is held here
        open.as_ref().map_or(0, |open| Arc::strong_count(open) - 1)
    }

    fn open(&self) -> Option<Arc<Open>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().filter(|open| !open.is_closed()).cloned()
    }

    fn put(&self, connection: Option<Arc<Open>>) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = connection;
    }
}

fn unavailable(why: &str) -> PersistenceError {
    PersistenceError::Unavailable(why.to_owned())
}
