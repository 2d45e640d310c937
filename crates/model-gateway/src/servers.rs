//! The configured model servers: their addresses, load and health, and the choice of a server for
//! the next request.
//!
//! This module sends no request and knows no protocol.
//!
//! How a server's prefix cache serves the requests of one call, learned from its answers.
//!
//! The questions of a call begin alike, with the text. A server that keeps what it has read reads
//! the text once, if one question goes first. How many questions may then go at once depends on the
//! server: any number where all share one cache; one where each slot has a cache of its own, as in
//! llama.cpp, since a second one at the same time makes another slot read the text.

mod address;
mod catch_up;
mod load;
mod pace;
mod pool;

use std::iter;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

pub(crate) use self::address::ServerAddress;
pub(crate) use self::catch_up::{CatchUp, ServerTurn};
pub use self::load::ServerUse;
pub(crate) use self::pace::{HostLimits, PacedRequest, ServerPace};
pub(crate) use self::pool::{AskedServer, ChosenServer, ServerPool};

/// Upper bound on the servers of a list.
pub(crate) const MOST_SERVERS: usize = 64;

/// Place of a server in the list, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerPlace(u8);

impl ServerPlace {
    /// All possible places, in order.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map(Self).take(MOST_SERVERS)
    }

    /// Number of servers before this one.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    fn bit(self) -> u64 {
        1_u64.checked_shl(u32::from(self.0)).unwrap_or_default()
    }
}

/// A set of servers, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerSet(u64);

impl ServerSet {
    /// The set with one more server.
    #[must_use]
    pub(crate) fn with(self, place: ServerPlace) -> Self {
        Self(self.0 | place.bit())
    }

    /// The union of both sets.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn contains(self, place: ServerPlace) -> bool {
        self.0 & place.bit() != 0
    }

    pub(crate) fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The servers of the set in the order of the list.
    pub(crate) fn places(self) -> impl Iterator<Item = ServerPlace> {
        ServerPlace::all().filter(move |place| self.contains(*place))
    }
}

/// One value for each server, in the order of the list. The list has at least one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EachServer<T> {
    first: T,
    others: Vec<T>,
}

impl<T> EachServer<T> {
    /// The value for a list of one server.
    pub(crate) fn alone(value: T) -> Self {
        Self {
            first: value,
            others: Vec::new(),
        }
    }

    /// Appends the value of another server to the list.
    pub(crate) fn push(&mut self, value: T) {
        self.others.push(value);
    }

    /// The value of the server at this place; the first server's if the list has no such place.
    pub(crate) fn of(&self, place: ServerPlace) -> &T {
        let other = place.index().checked_sub(1);
        let other = other.and_then(|index| self.others.get(index));
        other.unwrap_or(&self.first)
    }

    pub(crate) fn are_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// The values in the order of the list.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        iter::once(&self.first).chain(&self.others)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        iter::once(&mut self.first).chain(&mut self.others)
    }

    /// Replaces the first values by the ones that are known.
    pub(crate) fn recall(&mut self, known: Vec<T>) {
        for (value, known) in self.iter_mut().zip(known) {
            *value = known;
        }
    }

    /// The values, each with its server's place.
    pub(crate) fn places(&self) -> impl Iterator<Item = (ServerPlace, &T)> {
        ServerPlace::all().zip(self.iter())
    }

    /// Maps each value.
    pub(crate) fn map<U>(&self, mut make: impl FnMut(&T) -> U) -> EachServer<U> {
        EachServer {
            first: make(&self.first),
            others: self.others.iter().map(make).collect(),
        }
    }

    /// Maps each value; returns the first error, if any.
    pub(crate) fn try_map<U, E>(
        &self,
        mut make: impl FnMut(&T) -> Result<U, E>,
    ) -> Result<EachServer<U>, E> {
        Ok(EachServer {
            first: make(&self.first)?,
            others: self.others.iter().map(make).collect::<Result<_, _>>()?,
        })
    }
}

/// From this number at once on there is no limit.
const NO_LIMIT: usize = 32;
/// Number of questions in a row that read the text again, although they were alone and not the first:
/// the server keeps nothing.
const MISSES: u32 = 2;
/// Number of calls after which a limit is tried anew: another server may have taken the address.
const CALLS: u32 = 64;

/// What is known about one server, shared by all threads.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PrefixCache {
    /// Number of questions that go at once after the first.
    at_once: AtomicUsize,
    /// The least number at once of which one had to read the text.
    too_many: AtomicUsize,
    /// Questions in a row that read the text again, although they were alone.
    misses: AtomicU32,
    /// Calls with a shared text so far, in this process.
    #[serde(skip)]
    calls: AtomicU32,
    /// Whether each slot of the server has a cache of its own.
    has_slots: AtomicBool,
}

impl Default for PrefixCache {
    fn default() -> Self {
        Self {
            at_once: AtomicUsize::new(1),
            too_many: AtomicUsize::new(usize::MAX),
            misses: AtomicU32::default(),
            calls: AtomicU32::default(),
            has_slots: AtomicBool::default(),
        }
    }
}

impl PrefixCache {
    /// Begins a call with a long shared text. Returns whether its first question should go alone.
    pub(crate) fn begin_call(&self) -> bool {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        if calls % CALLS == CALLS - 1 {
            self.misses.store(0, Ordering::Relaxed);
            self.too_many.store(usize::MAX, Ordering::Relaxed);
        }
        self.keeps_texts()
    }

    /// Whether the server is not known to keep nothing.
    fn keeps_texts(&self) -> bool {
        self.misses.load(Ordering::Relaxed) < MISSES
    }

    /// The number of questions that may go at once after the first; `None` if there is no limit.
    pub(crate) fn at_once(&self) -> Option<usize> {
        let at_once = if self.has_slots.load(Ordering::Relaxed) {
            1
        } else {
            self.at_once.load(Ordering::Relaxed)
        };
        (at_once < NO_LIMIT && self.keeps_texts()).then_some(at_once)
    }

    /// The number of requests that may go at once because more would read a text again; `None` if no
    /// limit has been found.
    pub(crate) fn found_limit(&self) -> Option<usize> {
        let is_found = self.too_many.load(Ordering::Relaxed) < usize::MAX;
        self.at_once()
            .filter(|_| is_found || self.has_slots.load(Ordering::Relaxed))
    }

    /// Records that each slot of the server has a cache of its own.
    pub(crate) fn has_slots(&self) {
        self.has_slots.store(true, Ordering::Relaxed);
    }

    /// Whether each slot of the server is known to have a cache of its own.
    pub(crate) fn is_of_slots(&self) -> bool {
        self.has_slots.load(Ordering::Relaxed)
    }

    /// Learns from a question that was not the call's first: whether the server read the text for it
    /// from the cache, while `running` of the call's questions were under way, this one included.
    pub(crate) fn learn(&self, is_shared: bool, running: usize) {
        if is_shared {
            self.misses.store(0, Ordering::Relaxed);
            let more = self.at_once.load(Ordering::Relaxed).max(running) + 1;
            if more < self.too_many.load(Ordering::Relaxed) {
                self.at_once.fetch_max(more, Ordering::Relaxed);
            }
        } else if running > 1 {
            self.too_many.fetch_min(running, Ordering::Relaxed);
            self.at_once.fetch_min(running - 1, Ordering::Relaxed);
        } else {
            self.misses.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_the_places_that_were_put_in() {
        let [first, second, .., last] = &ServerPlace::all().collect::<Vec<_>>()[..] else {
            panic!("there are many places");
        };
        let set = ServerSet::default().with(*last).with(*first).with(*last);
        assert!(set.contains(*first) && set.contains(*last) && !set.contains(*second));
        assert_eq!((set.count(), last.index()), (2, 63));
        assert_eq!(set.places().collect::<Vec<_>>(), [*first, *last]);
        assert!(!set.is_empty() && ServerSet::default().is_empty());
    }

    #[test]
    fn shared_texts_let_more_go_at_once_until_there_is_no_limit() {
        let cache = PrefixCache::default();
        assert!(cache.begin_call());
        assert_eq!(cache.at_once(), Some(1));
        cache.learn(true, 1);
        assert_eq!(cache.at_once(), Some(2));
        for running in 2..NO_LIMIT {
            cache.learn(true, running);
        }
        assert_eq!((cache.at_once(), cache.found_limit()), (None, None));
        assert!(cache.begin_call());
    }

    #[test]
    fn a_text_that_is_read_again_limits_the_questions_at_once() {
        let cache = PrefixCache::default();
        for running in 1..4 {
            cache.learn(true, running);
        }
        cache.learn(false, 3);
        assert_eq!((cache.at_once(), cache.found_limit()), (Some(2), Some(2)));
        cache.learn(true, 2);
        assert_eq!(cache.at_once(), Some(2));
        // after many calls the limit is tried anew
        for _ in 0..CALLS {
            cache.begin_call();
        }
        cache.learn(true, 2);
        assert_eq!(cache.at_once(), Some(3));
    }

    #[test]
    fn a_server_that_keeps_nothing_gets_all_questions_at_once() {
        let cache = PrefixCache::default();
        for _ in 0..MISSES {
            assert!(cache.begin_call());
            cache.learn(false, 1);
        }
        assert!(!cache.begin_call());
        assert_eq!(cache.at_once(), None);
    }

    #[test]
    fn slots_answer_one_question_at_a_time() {
        let cache = PrefixCache::default();
        cache.has_slots();
        cache.learn(true, 1);
        assert_eq!((cache.at_once(), cache.found_limit()), (Some(1), Some(1)));
    }
}
