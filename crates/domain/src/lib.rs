//! The nouns and rules of Refract. A value is checked once, when it is constructed, and is valid
//! from then on.
//!
//! A *prism* is a versioned set of fields, context and questions; a *submission* is one call's
//! values for the fields; a *result* is what a model answered; a *lens* decides which columns of
//! a result a reader sees. Comments cite the specification's rules as `spec N.N`, and its fine
//! print as `readings`.
//!
//! ```
//! use refract_domain::lens::{Column, Lens};
//! use refract_domain::prism::PrismVersion;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // a version in its saved form; `refract-authoring` reads and checks prism files
//! let version: PrismVersion = serde_json::from_str(
//!     r#"{
//!         "fields": [{"key": "text", "label": "Message"}],
//!         "questions": [{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}]
//!     }"#,
//! )?;
//! // without a lens of its own, a prism shows a column for each question
//! let columns = version.columns(&Lens::Automatic);
//! let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
//! assert_eq!(names, ["angry"]);
//! # Ok(())
//! # }
//! ```
//!
//! This crate is pure: no input or output, no async, no clock, no randomness. Ids and times are
//! arguments. It knows nothing of databases, HTTP or model servers.

#![warn(clippy::missing_errors_doc)]

pub mod account;
pub mod answer;
pub mod event;
pub mod ids;
pub mod json;
pub mod key;
pub mod lens;
pub mod limits;
pub mod prism;
pub mod problem;
pub mod result;
pub mod submission;
