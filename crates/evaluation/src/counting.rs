//! Counts over stored answers: what stands in a lens's columns, and what another lens or other
//! cutoffs would change, without asking a model.

pub mod column_tally;
pub mod cutoff_steps;
pub mod lens_preview;
pub mod percent_cutoffs;
pub mod percent_histogram;
