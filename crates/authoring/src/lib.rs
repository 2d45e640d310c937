//! Writing prisms and lenses: their files, the differences between versions, and warnings about
//! wording.
//!
//! A prism file becomes a [`PrismVersion`](refract_domain::prism::PrismVersion), a lens file a list
//! of [`Column`](refract_domain::lens::Column)s. Comments cite the specification's rules as
//! `spec N.N`, and its fine print as `readings`.
//!
//! ```
//! use refract_authoring::prism_file::PrismFile;
//! use refract_authoring::{lens_file, wording};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = PrismFile::read(
//!     br#"{
//!         "name": "Triage",
//!         "fields": [{"key": "text", "label": "Message"}],
//!         "questions": [{"key": "calm", "type": "yes_no", "text": "Is the writer not angry?"}]
//!     }"#,
//!     None,
//! )?;
//! let warnings = wording::lint(&file.version);
//! assert_eq!(warnings[0].rule.name(), "negated-question");
//!
//! // a lens file is read for the version that it belongs to, and every problem has its path
//! let lens = br#"{"columns": [{"question": "calm", "output": "level"}]}"#;
//! let problems = lens_file::read(lens, &file.version).unwrap_err();
//! assert_eq!(problems.as_slice()[0].path, "columns.0.output");
//! # Ok(())
//! # }
//! ```
//!
//! This crate is pure: no input or output, no async, no clock, no randomness. It knows nothing of
//! databases, HTTP or model servers. Answering a text and rendering a result do not need it.

#![warn(clippy::missing_errors_doc)]

pub mod definition_name;
pub mod earlier_versions;
mod file_reader;
pub mod lens_file;
pub mod made_names;
pub mod prism_file;
pub mod version_difference;
pub mod wording;
