//! Test databases and a scripted model server, for tests only.

pub mod model_server;
pub mod postgres;
