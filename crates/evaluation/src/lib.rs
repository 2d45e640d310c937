//! The accuracy of stored answers, and the calibration of their probabilities.
//!
//! Input is stored answers with *marks*, the correct outcomes as judged by people
//! ([`marked::answers::MarkedAnswers`]), answers of two versions or models to the same texts
//! ([`comparison::PairedAnswers`], [`flips::FlipCounts`]), or answers to one text that was asked
//! about in several forms ([`flips::AnswerSensitivity`], [`robustness`]). Output is
//! numbers for people to decide by. [`counting`] needs no marks: it counts the values in a lens's
//! columns. [`drift`] needs none either: it compares the answers of two windows of time.
//!
//! ```
//! use refract_domain::answer::{Answer, probability::Probability};
//! use refract_domain::key::OutcomeKey;
//! use refract_domain::lens::cutoffs::Cutoffs;
//! use refract_domain::prism::question::{Question, QuestionType};
//! use refract_evaluation::marked::MarkedAnswer;
//! use refract_evaluation::marked::answers::MarkedAnswers;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let question: Question =
//!     serde_json::from_str(r#"{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}"#)?;
//! let mut answers = MarkedAnswers::new(QuestionType::YesNo, Cutoffs::AUTOMATIC);
//! for (probability, mark) in [(0.9, "yes"), (0.2, "no"), (0.7, "no")] {
//!     answers.add(&MarkedAnswer {
//!         question: &question,
//!         answer: &Answer::YesNo {
//!             probability: Probability::from_f64(probability).ok_or("not from 0 to 1")?,
//!         },
//!         mark: &OutcomeKey::parse(mark)?,
//!         model: None,
//!     })?;
//! }
//! let accuracy = answers.measures().accuracy;
//! assert_eq!((accuracy.count, accuracy.of), (2, 3));
//! # Ok(())
//! # }
//! ```
//!
//! This crate is pure: no input or output, no clock, no randomness. It knows nothing of databases,
//! files or terminals.

#![warn(clippy::missing_errors_doc)]

pub mod comparison;
pub mod counting;
pub mod cutoffs;
pub mod drift;
pub mod flips;
pub mod marked;
pub mod measures;
pub mod report;
pub mod requirement;
pub mod robustness;
