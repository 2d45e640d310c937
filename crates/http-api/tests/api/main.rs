//! The HTTP API as callers see it: over TCP, on both databases. Every test has its own service, whose
//! nodes run in the test's process.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod authorization;
mod bodies;
mod bounded;
mod create_result;
mod decisions;
mod failed_results;
mod idempotency;
mod key_networks;
mod operations;
mod order_about_results;
mod order_of_create;
mod prisms;
mod provenance;
mod races;

/// A behaviour starts a service of its own.
use std::future::ready as on;
