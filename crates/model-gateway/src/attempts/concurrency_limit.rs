//! Limits how many model requests of this node are in flight at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::error::ModelError;

/// A semaphore that all threads share, with a bound on the wait for a permit.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    semaphore: Semaphore,
    permits: usize,
    waiting: AtomicUsize,
    longest_wait: Duration,
}

impl ConcurrencyLimit {
    /// Creates a limit of `permits`. A request that waits for `longest_wait` fails.
    pub(crate) fn new(permits: usize, longest_wait: Duration) -> Self {
        let permits = permits.min(Semaphore::MAX_PERMITS);
        let semaphore = Semaphore::new(permits);
        Self {
            semaphore,
            permits,
            waiting: AtomicUsize::new(0),
            longest_wait,
        }
    }

    /// Waits for a permit, in order of arrival. Dropping the permit frees it for the next request.
    pub(crate) async fn acquire(&self) -> Result<SemaphorePermit<'_>, ModelError> {
        if let Ok(permit) = self.semaphore.try_acquire() {
            return Ok(permit);
        }
        let _counted = WaitingRequest::new(&self.waiting);
        match timeout(self.longest_wait, self.semaphore.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            // the semaphore is never closed, so only the wait can have failed
            Ok(Err(_)) | Err(_) => Err(ModelError::TooBusy(self.longest_wait)),
        }
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.permits
            .saturating_sub(self.semaphore.available_permits())
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// Counts a waiting request until the wait ends or is abandoned.
struct WaitingRequest<'a>(&'a AtomicUsize);

impl<'a> WaitingRequest<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
