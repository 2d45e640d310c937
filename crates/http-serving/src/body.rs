//! Bodies of requests: read frame by frame, within limits and a budget of bytes.

pub(crate) mod budget;
pub(crate) mod frame;
pub(crate) mod reader;
