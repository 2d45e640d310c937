//! The nouns and rules of Refract, each parsed once and valid ever after.
//!
//! A *prism* is a versioned set of fields, context and questions; a *submission* is one call's
//! values for its fields; a *result* is what a model answered; a *lens* decides which columns of
//! it a reader sees. The rules are those of the specification, named in comments as `spec N.N`.
//!
//! This crate is pure: no input or output, no async, no clock, no randomness. Ids and times are
//! arguments. It knows nothing of databases, HTTP or model servers.

pub mod answer;
pub mod api_key;
pub mod asking;
pub mod budget;
pub mod column_tally;
pub mod cutoff_steps;
pub mod cutoffs;
pub mod decimal;
pub mod field;
mod file_reader;
pub mod ids;
pub mod json;
pub mod key;
pub mod lens;
pub mod lens_file;
pub mod lens_preview;
pub mod limits;
mod ordered_map;
pub mod prism;
pub mod prism_file;
pub mod probability;
pub mod problem;
pub mod question;
pub mod reference;
pub mod result;
pub mod slug;
pub mod submission;
mod text;
pub mod view;
