//! Bodies of requests: read frame by frame, within limits and a memory budget.

pub(crate) mod budget;
pub(crate) mod chunks;
pub(crate) mod frame;
pub(crate) mod reader;
