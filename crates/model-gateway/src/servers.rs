//! The model servers of the list: their addresses, how busy and how well each of them is, and which
//! one the next request goes to.
//!
//! Nothing here sends a request or knows a protocol.

pub(crate) mod address;
pub(crate) mod each_server;
mod health;
pub(crate) mod load;
pub(crate) mod place;
pub(crate) mod pool;
