//! Endurance: many calls that share keys, many broken requests, slow and vanishing clients, hours
//! of calls. Each part prints its figures.
//!
//! A part takes minutes to hours, so it runs only if `REFRACT_TEST_ENDURANCE` names it, as in
//! `make test-endurance`. The size of each part can be set.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    dead_code,
    reason = "a test that meets the unexpected ends there, and prints its figures; what is shared \
              serves other tests too"
)]

#[path = "../rolling/counted_model.rs"]
mod counted_model;
#[path = "../black_box/program.rs"]
mod program;

mod held;
mod part;
mod steady;

mod answers;
mod disconnects;
mod exchange;
mod fuzzer;
mod keys;
mod requests;
mod slow;
mod slow_client;
mod soak;
