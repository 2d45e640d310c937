//! How often stored answers are right, and how far their probabilities can be believed.
//!
//! Input is stored answers with *marks*, the outcomes that people say are right
//! ([`marked_answers::MarkedAnswers`]), answers of two versions or models to the same texts
//! ([`comparison::PairedAnswers`]), or answers to one text with its options in several orders
//! ([`order_sensitivity::OrderSensitivity`]). Output is numbers for people to decide by.
//! [`counting`] needs no marks: it counts what stands in a lens's columns.
//!
//! This crate is pure: no input or output, no clock, no randomness. It knows nothing of databases,
//! files or terminals.

pub mod automation;
mod bootstrap;
pub mod comparison;
mod count;
pub mod counting;
pub mod coverage;
pub mod cutoff_advice;
mod cutoff_choice;
pub mod cutoff_trial;
mod folds;
mod forecast;
pub mod marked_answer;
pub mod marked_answers;
mod marked_row;
mod mcnemar;
pub mod measures;
pub mod order_sensitivity;
pub mod outcome_measures;
mod placed_outcome;
pub mod prediction;
pub mod proportion;
pub mod reliability;
pub mod requirement;
pub mod scale_measures;
mod scores;
mod target;
