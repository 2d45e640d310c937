//! Reads a request: its key, its body and its call.

pub(crate) mod bearer;
pub(crate) mod body;
pub(crate) mod call;
