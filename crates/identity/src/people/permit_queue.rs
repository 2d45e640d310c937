//! Turns at what sign-ins need, hashing a password or asking the sign-in provider, shared fairly: each
//! network of strangers and each person in a known browser has its own line, and the lines are served
//! round-robin.
//!
//! This module knows nothing of passwords and providers. Its memory is bounded under any load: each line is
//! limited in length, and so are all lines together.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use refract_domain::ids::PersonId;
use tokio::sync::oneshot;

/// An applicant for a permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Applicant {
    /// A person, signed in or in a browser in which they signed in before.
    Person(PersonId),
    /// A stranger from a network, by the network's name.
    Network(String),
}

/// Limits of a queue.
#[derive(Clone, Copy)]
pub(super) struct QueueLimits {
    /// Turns at the same time.
    pub(super) at_once: usize,
    /// Waiters of one network.
    pub(super) of_network: usize,
    /// Waiters of all networks.
    pub(super) of_networks: usize,
    /// Waiters of one person.
    pub(super) of_person: usize,
    /// Waiters of all people.
    pub(super) of_people: usize,
}

/// A queue that lasts as long as the process.
pub(super) struct PermitQueue {
    limits: QueueLimits,
    state: Mutex<QueueState>,
}

/// A permit of the queue, returned when it is dropped.
pub(super) struct QueuePermit {
    queue: &'static PermitQueue,
}

/// The queue has no room, or its place went to an applicant with fewer waiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoPermit;

struct QueueState {
    /// Free permits; 0 while an applicant waits.
    free: usize,
    people: Lines<PersonId>,
    networks: Lines<String>,
    /// Whether the last permit went to a person. Then the next goes to a network, if one waits: a
    /// person who signs in endlessly must not keep all others out.
    last_was_person: bool,
}

/// Lines of waiters by key, served round-robin.
struct Lines<K> {
    /// The keys that have waiters, the next one first.
    order: VecDeque<K>,
    /// The lines, none of them empty.
    waiting: BTreeMap<K, VecDeque<Waiter>>,
    /// Number of waiters in all lines.
    total: usize,
}

type Waiter = oneshot::Sender<QueuePermit>;

impl PermitQueue {
    pub(super) const fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            state: Mutex::new(QueueState {
                free: limits.at_once,
                people: Lines::new(),
                networks: Lines::new(),
                last_was_person: false,
            }),
        }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// [`NoPermit`]: at once if there is no room, or later if the place goes to an applicant with
    /// fewer waiters.
    pub(super) async fn permit(
        &'static self,
        applicant: Applicant,
    ) -> Result<QueuePermit, NoPermit> {
        let permit = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Ok(QueuePermit { queue: self });
            }
            let (waiter, permit) = oneshot::channel();
            let limits = &self.limits;
            match applicant {
                Applicant::Person(person) => {
                    let lines = &mut state.people;
                    lines.join(person, waiter, limits.of_person, limits.of_people)?;
                }
                Applicant::Network(network) => {
                    let lines = &mut state.networks;
                    lines.join(network, waiter, limits.of_network, limits.of_networks)?;
                }
            }
            permit
        };
        permit.await.map_err(|_| NoPermit)
    }

    /// Passes a released permit to the next waiter.
    fn pass_on(&'static self) {
        loop {
            let next = {
                let mut state = self.state();
                let next = state.next();
                if next.is_none() {
                    state.free += 1;
                }
                next
            };
            let Some(waiter) = next else {
                return;
            };
            match waiter.send(QueuePermit { queue: self }) {
                Ok(()) => return,
                // the waiter was cancelled: the permit is passed on here instead of being returned
                Err(permit) => std::mem::forget(permit),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for QueuePermit {
    fn drop(&mut self) {
        self.queue.pass_on();
    }
}

impl QueueState {
    /// The next waiter: people and networks alternate when both wait.
    fn next(&mut self) -> Option<Waiter> {
        let person = if self.last_was_person && self.networks.total > 0 {
            None
        } else {
            self.people.next()
        };
        self.last_was_person = person.is_some();
        person.or_else(|| self.networks.next())
    }
}

impl<K: Clone + Ord> Lines<K> {
    const fn new() -> Self {
        Self {
            order: VecDeque::new(),
            waiting: BTreeMap::new(),
            total: 0,
        }
    }

    /// Adds a waiter to the end of a key's line. When all lines together are full, the last waiter
    /// of the longest line makes room for a waiter of a shorter line.
    fn join(
        &mut self,
        key: K,
        waiter: Waiter,
        of_one: usize,
        of_all: usize,
    ) -> Result<(), NoPermit> {
        if self.length(&key) >= of_one || self.total >= of_all {
            self.remove_gone();
        }
        let length = self.length(&key);
        if length >= of_one {
            return Err(NoPermit);
        }
        if self.total >= of_all {
            self.shorten_longest(length)?;
        }
        let line = self.waiting.entry(key.clone()).or_default();
        if line.is_empty() {
            self.order.push_back(key);
        }
        line.push_back(waiter);
        self.total += 1;
        Ok(())
    }

    /// Takes the first waiter of the next line, and moves that line to the end.
    fn next(&mut self) -> Option<Waiter> {
        let key = self.order.pop_front()?;
        let line = self.waiting.get_mut(&key)?;
        let waiter = line.pop_front()?;
        self.total -= 1;
        if line.is_empty() {
            self.waiting.remove(&key);
        } else {
            self.order.push_back(key);
        }
        Some(waiter)
    }

    fn length(&self, key: &K) -> usize {
        self.waiting.get(key).map_or(0, VecDeque::len)
    }

    /// Refuses the last waiter of the longest line, if that line has at least `than + 2` waiters.
    fn shorten_longest(&mut self, than: usize) -> Result<(), NoPermit> {
        let longest = self.waiting.values_mut().max_by_key(|line| line.len());
        let line = longest
            .filter(|line| line.len() > than + 1)
            .ok_or(NoPermit)?;
        // dropping the waiter notifies it
        line.pop_back();
        self.total -= 1;
        Ok(())
    }

    /// Removes waiters that were cancelled.
    fn remove_gone(&mut self) {
        for line in self.waiting.values_mut() {
            line.retain(|waiter| !waiter.is_closed());
        }
        self.waiting.retain(|_, line| !line.is_empty());
        self.order.retain(|key| self.waiting.contains_key(key));
        self.total = self.waiting.values().map(VecDeque::len).sum();
    }
}

#[cfg(test)]
mod tests;
