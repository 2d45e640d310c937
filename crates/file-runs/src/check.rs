//! What is known of a file before the model is asked: refused rows, and what a run costs.

pub(crate) mod file_check;
pub(crate) mod price;
pub(crate) mod refused_rows;
