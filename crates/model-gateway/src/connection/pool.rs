//! Connections that wait for the next request of their thread.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::client::conn::http1::SendRequest;

use crate::connection::request_body::RequestBody;

/// Sends requests over one connection, one after the other. Dropping it closes the connection.
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
    /// Keeps connections that were idle for less than `keep_alive`.
    pub(super) fn new(keep_alive: Duration) -> Self {
        Self {
            connections: Mutex::default(),
            keep_alive,
        }
    }

    /// Takes the connection that was used last. A connection that is not ready, because its server
    /// has closed it or an answer was not read to its end, is closed instead.
    pub(super) fn take(&self) -> Option<HttpSender> {
        let mut connections = self.connections();
        while let Some(idle) = connections.pop_back() {
            if idle.since.elapsed() < self.keep_alive && idle.sender.is_ready() {
                return Some(idle.sender);
            }
        }
        None
    }

    /// The connections, which one thread uses: nobody waits for the lock.
    fn connections(&self) -> MutexGuard<'_, VecDeque<IdleConnection>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a connection for the next request, and closes connections that were idle for too long.
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
