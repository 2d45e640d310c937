//! The pages, a file or folder for each: its handlers, its words and its markup.

pub(crate) mod asset;
#[cfg(debug_assertions)]
pub(crate) mod component_sheet;
pub(crate) mod edit;
pub(crate) mod join;
pub(crate) mod people;
pub(crate) mod prisms;
pub(crate) mod sign_in;
pub(crate) mod sign_out;
