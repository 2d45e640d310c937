//! Test databases and model servers, for tests and benches only.

pub mod fixed_server;
pub mod model_server;
pub mod postgres;
