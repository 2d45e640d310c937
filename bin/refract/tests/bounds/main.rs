//! Hostile load on a node: many large forms and bodies that stall, together with ordinary calls.
//! Prints the node's peak memory and the latency of the calls. And the largest workbooks.
//!
//! `make check-bounds` runs it at full size and enforces the node's limits; `make test` runs it
//! with fewer clients.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    dead_code,
    reason = "a test that meets the unexpected ends there, and prints its figures; what is shared \
              serves other tests too"
)]

#[path = "../black_box/program.rs"]
mod program;

mod callers;
mod memory;
mod strangers;

mod crowd;
mod workbooks;
