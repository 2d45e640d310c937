//! The HTTP API of Refract: three routes, five formats, and the operator's endpoints beside them.
//!
//! A request passes these rooms: `worker` takes it, `lifecycle` lets it in, `routes` finds
//! its handler; a handler reads the call (`body`, `call`), the key (`bearer`), runs the use
//! case detached from the connection, and replies (`reply`, or `error`, which alone knows
//! statuses, codes and messages). `request_record` logs and counts it.
//!
//! It knows nothing of the database or of model servers, and decides nothing about results.

mod bearer;
mod body;
mod call;
mod create_result;
mod error;
mod exposition;
mod lifecycle;
mod listener;
mod metrics;
mod ops;
mod read_result;
mod reply;
mod request_id;
mod request_record;
mod retry_result;
mod routes;
mod server;
mod worker;

pub use lifecycle::Drained;
pub use listener::bind;
pub use server::{HttpSettings, serve};
