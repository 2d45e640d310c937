//! Tests of the browser for tests, with pages of their own. Without a browser X
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]
mod page_server;
mod pages;
mod processes;
