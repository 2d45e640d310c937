//! Hostile load on a node: many large forms and bodies that stall, together with ordinary calls.
//! Prints the node's peak memory and the latency of the calls. And the largest workbooks.
//!
//! `make check-bounds` runs it at full size and enforces the node's limits; `make test` runs it
//! with fewer clients.
#![expect(clippy::print_stdout, reason = "a test prints its figures")]

mod callers;
mod memory;
mod strangers;

mod crowd;
mod workbooks;
