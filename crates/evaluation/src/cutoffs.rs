//! Cutoffs that reach a goal, and their quality on held-out rows.

pub mod advice;
pub mod certificate;
pub(crate) mod choice;
pub mod exact_binomial;
pub(crate) mod folds;
pub mod promise;
pub(crate) mod spending;
pub mod trial;
