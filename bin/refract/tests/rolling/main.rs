//! Rolling restarts behind a real HAProxy with the configuration in `docs/deploy`: three nodes on
//! one PostgreSQL, 200 calls per second, a node restarted every 15 s. No call fails, none is asked
//! twice.
//!
//! It takes minutes, so it runs only if `REFRACT_TEST_ROLLING_MINUTES` sets their number, as in
//! `make test-rolling`.
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

mod balancer;
mod callers;
mod counted_model;
mod restarts;
mod tally;
