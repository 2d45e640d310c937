//! The progress of a model server: counts of events, and the release of held replies.

use tokio::sync::{Semaphore, watch};

/// How often each event has happened since the server's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Connections accepted.
    pub connections: usize,
    /// Requests read to the end.
    pub requests: usize,
    /// Replies sent to the end.
    pub replies: usize,
    /// Held replies whose client disconnected before the release.
    pub abandoned: usize,
}

/// Counts of events, and permits for held replies.
#[derive(Debug)]
pub(super) struct ServerProgress {
    counts: watch::Sender<ServerCounts>,
    held: Semaphore,
}

impl Default for ServerProgress {
    fn default() -> Self {
        Self {
            counts: watch::Sender::default(),
            held: Semaphore::new(0),
        }
    }
}

impl ServerProgress {
    pub(super) fn count(&self, change: impl FnOnce(&mut ServerCounts)) {
        self.counts.send_modify(change);
    }

    pub(super) fn counts(&self) -> ServerCounts {
        *self.counts.borrow()
    }

    pub(super) async fn wait_until(&self, expected: impl Fn(&ServerCounts) -> bool) {
        // waiting fails only without a sender, and `self` owns the sender
        self.counts.subscribe().wait_for(expected).await.ok();
    }

    pub(super) fn release(&self, replies: usize) {
        self.held.add_permits(replies);
    }

    pub(super) fn release_all(&self) {
        self.held.close();
    }

    /// Waits until a test releases a held reply.
    pub(super) async fn released(&self) {
        // a closed semaphore releases every reply
        if let Ok(permit) = self.held.acquire().await {
            permit.forget();
        }
    }
}
