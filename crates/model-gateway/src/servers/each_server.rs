//! A value for each model server of the list.

use std::iter;

use super::place::ServerPlace;

/// One value for each server, in the order of the list, which names one server at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EachServer<T> {
    first: T,
    others: Vec<T>,
}

impl<T> EachServer<T> {
    /// The value of a list of one server.
    pub(crate) fn alone(value: T) -> Self {
        Self {
            first: value,
            others: Vec::new(),
        }
    }

    /// Adds the value of one more server at the end of the list.
    pub(crate) fn push(&mut self, value: T) {
        self.others.push(value);
    }

    /// The value of the server at this place; the first server's for a place that the list lacks.
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

    /// The values with the places of their servers.
    pub(crate) fn places(&self) -> impl Iterator<Item = (ServerPlace, &T)> {
        ServerPlace::all().zip(self.iter())
    }

    /// A value made from each one.
    pub(crate) fn map<U>(&self, mut make: impl FnMut(&T) -> U) -> EachServer<U> {
        EachServer {
            first: make(&self.first),
            others: self.others.iter().map(make).collect(),
        }
    }

    /// A value made from each one, or the first failure.
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
