//! Lets a single server catch up after a request timed out.
//!
//! A server such as llama.cpp goes on reading a text whose client has left, and what is sent
//! meanwhile waits behind it until it times out too. So after a timeout in which the server answered
//! nothing, requests wait for their turn: the first one is sent alone, as a probe, and a row of a file
//! has the rest of half a minute in addition to its own time. Each answer lets one of those that wait go, and a quick
//! answer two, so that a server with many slots is soon asked as before.
//!
//! A server that hangs costs this wait once: only one that has answered since catches up again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::priority_queue::{CallPriority, PriorityQueue};

/// The longest time that a server may take to catch up: two attempts by default.
pub(super) const LONGEST: Duration = Duration::from_secs(30);

/// Whether the server catches up, shared by all threads.
#[derive(Debug)]
pub(crate) struct CatchUp {
    longest: Duration,
    /// Times are durations since this moment.
    origin: Instant,
    /// Whether the server catches up; otherwise nothing is locked.
    is_on: AtomicBool,
    /// Microseconds to the latest answer: the first request after a timeout may be answered at once.
    answered_at: AtomicU64,
    turns: Mutex<Turns>,
    queue: PriorityQueue,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Turns {
    began_at: Duration,
    ends_at: Duration,
    /// Requests that may be sent now.
    free: usize,
}

/// A request's turn at the server. Dropping it passes the turn on.
#[derive(Debug, Default)]
pub(crate) struct ServerTurn<'a> {
    catch_up: Option<&'a CatchUp>,
    /// The time that a row which is a probe has in addition to its own. A caller of the API does not wait
    /// for longer than an attempt may take.
    pub(crate) grace: Duration,
}

impl CatchUp {
    pub(super) fn new(longest: Duration) -> Self {
        Self {
            longest,
            origin: Instant::now(),
            is_on: AtomicBool::new(false),
            answered_at: AtomicU64::new(0),
            turns: Mutex::default(),
            queue: PriorityQueue::default(),
            changed: Notify::new(),
        }
    }

    /// The time to pass to [`timed_out`](Self::timed_out) for a request that is sent now.
    pub(crate) fn now(&self) -> Duration {
        // as exact as the time of the latest answer
        Duration::from_micros(u64::try_from(self.origin.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Waits for a request's turn, which comes at once unless the server catches up.
    pub(crate) async fn turn(&self, priority: CallPriority) -> ServerTurn<'_> {
        if !self.is_on.load(Ordering::Relaxed) {
            return ServerTurn::default();
        }
        let take = || async {
            loop {
                match self.try_turn(priority) {
                    Ok(turn) => return turn,
                    // either way, it is tried again
                    Err(left) => {
                        let _ = timeout(left, self.changed.notified()).await;
                    }
                }
            }
        };
        // boxed, so that a request that need not wait needs no memory for it
        Box::pin(self.queue.take_in_order(priority, take)).await
    }

    /// A turn if one is free, else the time until all are.
    fn try_turn(&self, priority: CallPriority) -> Result<ServerTurn<'_>, Duration> {
        let mut turns = self.turns();
        let left = turns.ends_at.saturating_sub(self.now());
        if left.is_zero() {
            self.is_on.store(false, Ordering::Relaxed);
        }
        if !self.is_on.load(Ordering::Relaxed) {
            return Ok(ServerTurn::default());
        }
        turns.free = turns.free.checked_sub(1).ok_or(left)?;
        let is_probe = self.answered_at() <= turns.began_at;
        let has_grace = is_probe && priority == CallPriority::Batch;
        Ok(ServerTurn {
            catch_up: Some(self),
            grace: if has_grace { left } else { Duration::ZERO },
        })
    }

    /// Learns from an answer. A quick one shows that the server may take more at a time.
    pub(crate) fn answered(&self, is_quick: bool) {
        let now = u64::try_from(self.now().as_micros()).unwrap_or(u64::MAX);
        self.answered_at.fetch_max(now, Ordering::Relaxed);
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        if self.queue.count() == 0 {
            self.is_on.store(false, Ordering::Relaxed);
        } else if is_quick {
            self.free_turn();
        }
    }

    /// Learns from the timeout of a request that was sent at `sent_at`. Returns whether it waited
    /// behind one that had timed out before.
    pub(crate) fn timed_out(&self, sent_at: Duration) -> bool {
        let answered_at = self.answered_at();
        if answered_at > sent_at {
            return false;
        }
        let now = self.now();
        let mut turns = self.turns();
        if now < turns.ends_at && answered_at <= turns.began_at {
            return true;
        }
        let has_answered_since = turns.ends_at.is_zero() || answered_at > turns.began_at;
        if has_answered_since {
            *turns = Turns {
                began_at: now,
                ends_at: now.saturating_add(self.longest),
                free: 1,
            };
            self.is_on.store(true, Ordering::Relaxed);
            tracing::info!(
                "a request timed out: the model server is asked one by one until it answers"
            );
        }
        false
    }

    fn answered_at(&self) -> Duration {
        Duration::from_micros(self.answered_at.load(Ordering::Relaxed))
    }

    fn free_turn(&self) {
        self.turns().free += 1;
        self.changed.notify_one();
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ServerTurn<'_> {
    fn drop(&mut self) {
        if let Some(catch_up) = self.catch_up {
            catch_up.free_turn();
        }
    }
}

#[cfg(test)]
mod tests;
