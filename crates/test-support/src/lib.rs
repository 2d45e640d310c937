//! Test databases, servers that a test can break, scripted model servers and a browser; for tests and
//! benches only.

pub mod browser;
pub mod cluster;
pub mod fixed_server;
mod machine;
pub mod model_server;
pub mod pgbouncer;
pub mod postgres;
pub mod postgres_proxy;
