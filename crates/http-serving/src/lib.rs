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

pub use body::BodyChunks;
pub use body::budget::{BodyBudget, BudgetTooSmall, HeldRoom};
pub use body::reader::{
    ArrivedBody, BodyLimits, BodyReadError, BodyReader, SentBody, declared_length, discard_body,
};
pub use gate::{ReadGate, RequestUnderWay};
pub use lifecycle::{CallInFlight, Drained, Draining, Lifecycle, Panicked, unless_panicked};
pub use process_metrics::ProcessCollector;
pub use request::client_address::{ClientAddress, ClientNetwork, NotANetwork, TrustedProxies};
pub use request::record::{
    EndedRequest, RequestLine, RequestMetrics, RequestRecord, RequestRecorder,
};
pub use request::{RequestId, X_REQUEST_ID};
pub use server::http_server::{Handler, Serving, http_server};
pub use server::{ConnectionShares, DescriptorNeeds, TooFewDescriptors, bind, serve_until};

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
