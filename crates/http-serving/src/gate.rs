//! Streams that are read no further than they may: a connection waits at a gate until the request
//! before it is answered.

pub(crate) mod gated_stream;
pub(crate) mod head_ends;
pub(crate) mod read_gate;
