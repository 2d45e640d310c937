//! Idle connections of one thread.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::client::conn::http1::SendRequest;

use crate::connection::request_body::RequestBody;

/// Sends requests over one connection, one at a time. Dropping it closes the connection.
pub(super) type HttpSender = SendRequest<RequestBody>;

/// Idle connections, the longest idle first.
pub(super) struct IdleConnections {
    connections: Mutex<VecDeque<IdleConnection>>,
    keep_alive: Duration,
}

struct IdleConnection {
    sender: HttpSender,
    since: Instant,
}

impl IdleConnections {
    /// Creates a pool of connections idle for less than `keep_alive`.
    pub(super) fn new(keep_alive: Duration) -> Self {
        Self {
            connections: Mutex::default(),
            keep_alive,
        }
    }

    /// Takes the most recently used connection that is ready. Closes those that are not: the server
    /// has closed them, or an answer was not read to its end.
    pub(super) fn take(&self) -> Option<HttpSender> {
        let mut connections = self.connections();
        while let Some(idle) = connections.pop_back() {
            if idle.since.elapsed() < self.keep_alive && idle.sender.is_ready() {
                return Some(idle.sender);
            }
        }
        None
    }

    /// Locks the connections. Only one thread uses them, so the lock never waits.
    fn connections(&self) -> MutexGuard<'_, VecDeque<IdleConnection>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a connection to the pool, and closes connections that were idle for too long.
    pub(super) fn put(&self, sender: HttpSender) {
        let mut connections = self.connections();
        while let Some(longest) = connections.front()
            && longest.since.elapsed() >= self.keep_alive
        {
            connections.pop_front();
        }
        if !sender.is_closed() {
            let since = Instant::now();
            connections.push_back(IdleConnection { sender, since });
        }
    }
}
