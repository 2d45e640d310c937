//! Cutoffs that reach a goal, and their quality on held-out rows.

pub mod advice;
pub mod certificate;
pub(crate) mod choice;
pub mod exact_binomial;
pub(crate) mod folds;
pub mod percent_measures;
pub mod promise;
pub(crate) mod shrinking_regions;
pub(crate) mod spending;
pub(crate) mod target;
pub mod trial;
