//! Rolling restarts behind a real HAProxy with the configuration in `docs/deploy`: three nodes on
//! one PostgreSQL, 200 calls per second, a node restarted every 15 s. No call fails, none is asked
//! twice.
//!
//! It takes minutes, so it runs only if `REFRACT_TEST_ROLLING_MINUTES` sets their number, as in
//! `make test-rolling`.
#![expect(clippy::print_stdout, reason = "a test prints its figures")]

mod balancer;
mod callers;
pub(crate) mod counted_model;
mod restarts;
mod tally;
