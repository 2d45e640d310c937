//! A server, from its bound socket to its end.

pub(crate) mod descriptors;
pub(crate) mod http_server;
pub(crate) mod listener;
pub(crate) mod serve_until;
