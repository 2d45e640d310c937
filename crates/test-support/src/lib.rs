//! Test databases, servers to break and a scripted model server, for tests only.

pub mod cluster;
pub mod model_server;
pub mod pgbouncer;
pub mod postgres;
pub mod postgres_proxy;
