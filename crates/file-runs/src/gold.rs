//! Gold files: texts with known correct answers.

pub(crate) mod cells;
pub(crate) mod examples;
pub(crate) mod file;
pub(crate) mod run;
