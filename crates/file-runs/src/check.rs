//! Checks a file before the model is asked: refused rows, and the cost of a run.

pub(crate) mod file_check;
pub(crate) mod price;
pub(crate) mod refused_rows;
