//! Places in the list of model servers, sets of them, and a value for each.

use std::iter;

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
}
