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
use crate::gathering::Gathering;
use crate::postgres::{Connections, Open};

/// Groups of results that may be on their way at the same time, each on a lane.
const GROUPS_AT_ONCE: usize = 3;

/// The lanes of one thread.
pub(crate) struct Lanes {
    connections: Arc<Connections>,
    /// For all statements that read.
    reading: Lane,
    /// For the groups of results that are inserted.
    writing: Box<[Lane]>,
    /// Results that wait for one of these.
    pub(crate) gathering: Arc<Gathering>,
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
        let writing = lanes.saturating_sub(1).min(GROUPS_AT_ONCE);
        Self {
            connections: Arc::clone(connections),
            reading: Lane::default(),
            writing: std::iter::repeat_with(Lane::default)
                .take(writing)
                .collect(),
            gathering: Arc::new(Gathering::new(writing)),
        }
    }

    /// The connection for a statement that reads; `None` when the caller has to lease one.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) async fn reader(&self) -> Result<Option<Arc<Open>>, PersistenceError> {
        self.reading.connection(&self.connections).await
    }

    /// The same for a group of results, on a lane that nobody uses.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) async fn writer(&self) -> Result<Option<Arc<Open>>, PersistenceError> {
        match self.writing.iter().find(|lane| !lane.is_in_use()) {
            Some(lane) => lane.connection(&self.connections).await,
            None => Ok(None),
        }
    }

    /// Lets no more statements onto the connection that reads, which has stopped answering.
    pub(crate) fn abandon_reading(&self) {
        self.reading.put(None);
    }

    /// The same for one of those that write.
    pub(crate) fn abandon_writing(&self, connection: &Arc<Open>) {
        for lane in &self.writing {
            lane.abandon(connection);
        }
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
        let opening = opening.map_err(|_| PersistenceError::no_answer())?;
        let opened = opening.map_err(|error| PersistenceError::Unavailable(error.to_string()))?;
        let open = Arc::new(opened);
        self.put(Some(Arc::clone(&open)));
        Ok(Some(open))
    }

    /// Whether a statement is under way.
    fn is_in_use(&self) -> bool {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        // one is held here
        open.as_ref()
            .is_some_and(|open| Arc::strong_count(open) > 1)
    }

    fn abandon(&self, connection: &Arc<Open>) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.take_if(|open| Arc::ptr_eq(open, connection));
    }

    fn open(&self) -> Option<Arc<Open>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().filter(|open| !open.is_closed()).cloned()
    }

    fn put(&self, connection: Option<Arc<Open>>) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = connection;
    }
}
