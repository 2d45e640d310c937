//! Cutoffs that reach a goal, and how well they are chosen.

pub mod advice;
pub(crate) mod choice;
pub(crate) mod folds;
pub(crate) mod target;
pub mod trial;
