//! Writing prisms and lenses: their files, the differences between versions, and warnings about
//! wording.
//!
//! A prism file becomes a [`PrismVersion`](refract_domain::prism::PrismVersion), a lens file a list
//! of [`Column`](refract_domain::lens::Column)s. Comments cite the specification's rules as
//! `spec N.N`, and its fine print as `readings`.
//!
//! This crate is pure: no input or output, no async, no clock, no randomness. It knows nothing of
//! databases, HTTP or model servers. Answering a text and rendering a result do not need it.

pub mod definition_name;
pub mod earlier_versions;
mod file_reader;
pub mod lens_file;
pub mod made_names;
pub mod prism_file;
pub mod version_difference;
pub mod wording;
