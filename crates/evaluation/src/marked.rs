//! Stored answers with the outcomes that people say are right.

pub mod answer;
pub mod answers;
pub(crate) mod placed_outcome;
pub(crate) mod row;
