//! The lens for JavaScript: renders stored results, previews lenses and checks files, in the browser
//! or in Node.
//!
//! Prisms, lenses and results are passed as the JSON texts in which Refract gives them out, and what is
//! rendered has the bytes of the API. [`StoredResults`] reads results with the versions that answered;
//! [`check_prism_file`] and [`check_lens_file`] check files. `bindings` shows both to JavaScript, and is
//! the only module that knows it: everything else runs and is tested natively.
//!
//! `make wasm` builds the npm package `refract-lens` from this crate.

pub mod bindings;
mod checked_files;
mod counted_lenses;
mod stored_results;

pub use checked_files::{
    CheckedFile, FoundProblem, StoredInputError, check_lens_file, check_prism_file,
};
pub use counted_lenses::{ColumnCounts, CountedLens, CountedSteps};
pub use stored_results::StoredResults;
