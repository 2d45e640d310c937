//! What the API's listener and the app's listener have in common: a bound socket, a share of the
//! process's descriptors, the record of a request with its id, client and trace, and the life of a
//! server, which admits calls, detaches them from their client and drains.
//!
//! This crate knows no route, no error body and no use case.

mod body_budget;
mod body_frame;
mod body_reader;
mod client_address;
mod descriptors;
mod error_causes;
mod gated_stream;
mod head_ends;
mod http_server;
mod lifecycle;
mod listener;
mod process_metrics;
mod read_gate;
mod request_id;
mod request_metrics;
mod request_record;
mod serve_until;
mod traced_request;

pub use body_budget::{BodyBudget, BudgetTooSmall, HeldRoom};
pub use body_reader::{
    ArrivedBody, BodyLimits, BodyReadError, BodyReader, SentBody, declared_length, discard_body,
};
pub use client_address::{ClientAddress, ClientNetwork, NotANetwork, TrustedProxies};
pub use descriptors::{ConnectionShares, DescriptorNeeds, TooFewDescriptors};
pub use error_causes::with_causes;
pub use http_server::{Serving, http_server};
pub use lifecycle::{CallInFlight, Drained, Draining, Lifecycle, Panicked, unless_panicked};
pub use listener::bind;
pub use process_metrics::ProcessCollector;
pub use read_gate::{ReadGate, RequestUnderWay};
pub use request_id::{RequestId, X_REQUEST_ID};
pub use request_metrics::RequestMetrics;
pub use request_record::{EndedRequest, RequestLine, RequestRecord, RequestRecorder};
pub use serve_until::serve_until;
