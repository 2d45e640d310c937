//! Counts over stored answers: the values in a lens's columns, and the changes that another lens or
//! other cutoffs would make, without asking a model.

pub mod column_tally;
pub mod cutoff_reach;
pub mod cutoff_steps;
pub mod lens_preview;
pub mod nearest_changes;
pub mod percent_histogram;
pub mod review_order;
