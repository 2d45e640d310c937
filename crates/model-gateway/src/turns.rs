//! Turns: how many requests are in flight at once on this node, and who waits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::failure::ModelFailure;

/// The turns of one node.
#[derive(Debug)]
pub(crate) struct Turns {
    semaphore: Semaphore,
    concurrency: usize,
    waiting: AtomicUsize,
    patience: Duration,
}

impl Turns {
    /// `concurrency` turns at once; a wait of `patience` is too long.
    pub(crate) fn new(concurrency: usize, patience: Duration) -> Self {
        let concurrency = concurrency.min(Semaphore::MAX_PERMITS);
        let semaphore = Semaphore::new(concurrency);
        Self {
            semaphore,
            concurrency,
            waiting: AtomicUsize::new(0),
            patience,
        }
    }

    /// Waits for a turn, which lasts until the permit is dropped. First come, first served.
    pub(crate) async fn take(&self) -> Result<SemaphorePermit<'_>, ModelFailure> {
        if let Ok(turn) = self.semaphore.try_acquire() {
            return Ok(turn);
        }
        let _waiting = Waiting::new(&self.waiting);
        match timeout(self.patience, self.semaphore.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            // the semaphore is never closed, so what is left is the patience
            Ok(Err(_)) | Err(_) => Err(ModelFailure::TooBusy(self.patience)),
        }
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.concurrency
            .saturating_sub(self.semaphore.available_permits())
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// Counts one who waits, also when the wait is abandoned.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
