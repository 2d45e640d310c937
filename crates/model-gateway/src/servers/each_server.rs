//! A value for each model server of the list.

use std::iter;

use super::place::ServerPlace;

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
