//! The common parts of the API's and the app's listener: a bound socket, a share of the process's
//! file descriptors, the record of a request with its id, client and trace, and the lifecycle of a
//! server, which admits calls, detaches them from their client and drains.
//!
//! This crate knows no route, no error body and no use case.

mod body;
mod gate;
mod lifecycle;
mod process_metrics;
mod request;
mod server;

use std::error::Error;
use std::fmt::Write as _;

pub use body::{
    ArrivedBody, BodyBudget, BodyChunks, BodyLimits, BodyReadError, BodyReader, BudgetTooSmall,
    HeldRoom, SentBody, declared_length, discard_body,
};
pub use gate::{ReadGate, RequestUnderWay};
pub use lifecycle::{CallInFlight, Drained, Draining, Lifecycle, Panicked, unless_panicked};
pub use process_metrics::ProcessCollector;
pub use request::{
    ClientAddress, ClientNetwork, EndedRequest, NotANetwork, RequestId, RequestLine,
    RequestMetrics, RequestRecord, RequestRecorder, TrustedProxies, X_REQUEST_ID,
};
pub use server::{
    ConnectionShares, DescriptorNeeds, Handler, Serving, TooFewDescriptors, bind, http_server,
    serve_until,
};

/// The messages of an error and of its causes, joined with `: `, for the log.
pub fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // writing to a `String` cannot fail
        let _ = write!(message, ": {error}");
        cause = error.source();
    }
    message
}
