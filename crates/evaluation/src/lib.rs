//! The accuracy of stored answers, and the calibration of their probabilities.
//!
//! Input is stored answers with *marks*, the correct outcomes as judged by people
//! ([`marked::answers::MarkedAnswers`]), answers of two versions or models to the same texts
//! ([`comparison::PairedAnswers`]), or answers to one text with its options in several orders
//! ([`order_sensitivity::OrderSensitivity`]). Output is numbers for people to decide by.
//! [`counting`] needs no marks: it counts the values in a lens's columns.
//!
//! This crate is pure: no input or output, no clock, no randomness. It knows nothing of databases,
//! files or terminals.

pub mod comparison;
pub mod counting;
pub mod cutoffs;
pub mod marked;
pub mod measures;
pub mod order_sensitivity;
pub mod prediction;
pub mod requirement;
pub mod rounding;
