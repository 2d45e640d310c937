//! The whole of Refract in a test's own process, only for tests.
//!
//! A [`Service`](service::Service) has a database, a scripted model server and nodes, and runs
//! commands. Nodes and commands share the test's process, or are processes of the built program for
//! tests of signals, logs and exit statuses.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

pub mod browser;
pub mod description;
pub mod expected;
pub mod http;
pub mod knowing_models;
pub mod marked_texts;
pub mod node;
pub mod order;
pub mod program;
pub mod runs;
pub mod service;
pub mod varied;
