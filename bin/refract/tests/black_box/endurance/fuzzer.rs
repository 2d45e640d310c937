//! Derives broken HTTP requests from valid ones: by structure (method, path, query, headers, JSON,
//! framing), and only sometimes by bytes, so that most of them get far into the service.

mod chance;
mod framing;
mod heads;
mod json;
mod request;

pub(crate) use chance::Chance;
pub(crate) use request::{Known, MutatedRequest};
