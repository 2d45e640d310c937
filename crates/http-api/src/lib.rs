//! The HTTP API of Refract: three routes, five formats, and the operator's endpoints.
//!
//! The path of a request: `worker` receives the request, `routes` finds the route and
//! `refract_http_serving` admits the call. The handler (`create_result`, `read_result`,
//! `retry_result`) reads the call and the key (`request`), runs the use case
//! (`use_case`; one that asks the model continues after its client disconnects), and makes the
//! `reply`. Only `error` contains the statuses, codes and messages of errors. `request_record` logs
//! and counts the request.
//!
//! This crate knows neither the database nor model servers, and decides nothing about results.

mod error;
mod ops;
mod reply;
mod request;
mod routes;
mod server;
mod worker;

pub use server::{HttpSettings, serve};
