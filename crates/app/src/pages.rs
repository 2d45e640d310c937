//! The pages: for each one a file or folder with its handlers, texts and markup.

pub(crate) mod asset;
pub(crate) mod codes;
#[cfg(debug_assertions)]
pub(crate) mod component_sheet;
pub(crate) mod edit;
pub(crate) mod events;
pub(crate) mod examples;
pub(crate) mod join;
pub(crate) mod keys;
pub(crate) mod lens;
mod list_change;
pub(crate) mod me;
pub(crate) mod new_prism;
pub(crate) mod people;
pub(crate) mod prism;
pub(crate) mod prisms;
pub(crate) mod quality;
pub(crate) mod result;
pub(crate) mod results;
pub(crate) mod retest;
pub(crate) mod retests;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod sign_in;
pub(crate) mod sign_in_link;
pub(crate) mod sign_on;
pub(crate) mod sign_out;
pub(crate) mod try_text;
pub(crate) mod uploaded_file;
pub(crate) mod usage;
