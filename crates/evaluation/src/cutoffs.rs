//! Cutoffs that reach a goal, and their quality on held-out rows.

pub mod advice;
pub(crate) mod choice;
pub(crate) mod folds;
pub mod percent_measures;
pub(crate) mod target;
pub mod trial;
