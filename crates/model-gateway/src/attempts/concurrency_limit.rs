//! Limits how many model requests of this node are in flight at once.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::ModelError;
use crate::priority_queue::{CallPriority, PriorityQueue};

/// A semaphore that all threads share. Permits go to the requests of higher priority first.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    semaphore: Semaphore,
    permits: usize,
    queue: PriorityQueue,
    longest_wait: Duration,
}

impl ConcurrencyLimit {
    /// Creates a limit of `permits`. An interactive request waits `longest_wait` at most.
    pub(crate) fn new(permits: usize, longest_wait: Duration) -> Self {
        let permits = permits.min(Semaphore::MAX_PERMITS);
        Self {
            semaphore: Semaphore::new(permits),
            permits,
            queue: PriorityQueue::default(),
            longest_wait,
        }
    }

    /// A permit if one is free. Dropping the permit frees it for the next request.
    pub(crate) fn try_acquire(&self) -> Option<SemaphorePermit<'_>> {
        if self.queue.count() > 0 {
            return None;
        }
        self.semaphore.try_acquire().ok()
    }

    /// Waits for a permit.
    pub(crate) async fn acquire(
        &self,
        priority: CallPriority,
    ) -> Result<SemaphorePermit<'_>, ModelError> {
        let take = || self.semaphore.acquire();
        let permit = self.queue.take_in_order(priority, take).await;
        // the semaphore is never closed
        permit.map_err(|_| self.too_busy())
    }

    /// The failure of a request that waited for `longest_wait`.
    pub(crate) fn too_busy(&self) -> ModelError {
        ModelError::TooBusy(self.longest_wait)
    }

    /// The longest time that an interactive request waits before an attempt.
    pub(crate) fn longest_wait(&self) -> Duration {
        self.longest_wait
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.permits
            .saturating_sub(self.semaphore.available_permits())
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.count()
    }
}
