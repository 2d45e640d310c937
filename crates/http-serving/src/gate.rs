//! Streams with a gate: the next request of a connection is not read before the current one is
//! answered.

pub(crate) mod gated_stream;
pub(crate) mod head_ends;
pub(crate) mod head_fields;
pub(crate) mod read_gate;
