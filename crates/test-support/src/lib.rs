//! Test databases, breakable servers, scripted model servers and a browser, only for tests and
//! benches.

pub mod backend;
pub mod browser;
pub mod cluster;
pub mod fixed_server;
mod machine;
pub mod model_server;
pub mod pgbouncer;
pub mod postgres;
pub mod postgres_proxy;
pub mod provider;
pub mod workbook;
