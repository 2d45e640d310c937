//! What the API's listener and the app's listener have in common: a bound socket, a share of the
//! process's descriptors, a request's id, client and trace, and the life of a server, which admits
//! calls, detaches them from their client and drains.
//!
//! This crate knows no route, no error body and no use case.

mod client_address;
mod descriptors;
mod error_causes;
mod lifecycle;
mod listener;
mod request_id;
mod traced_request;

pub use client_address::{ClientAddress, ClientNetwork, NotANetwork, TrustedProxies};
pub use descriptors::{ConnectionShares, DescriptorNeeds, TooFewDescriptors};
pub use error_causes::with_causes;
pub use lifecycle::{CallInFlight, Drained, Draining, Lifecycle, Panicked, unless_panicked};
pub use listener::bind;
pub use request_id::{RequestId, X_REQUEST_ID};
pub use traced_request::{begin_trace, request_span};
