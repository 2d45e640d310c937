//! Endurance: many calls that share keys, many broken requests, slow and vanishing clients, hours
//! of calls. Each part prints its figures.
//!
//! A part takes minutes to hours, so it runs only if `REFRACT_TEST_ENDURANCE` names it, as in
//! `make test-endurance`. The size of each part can be set.
#![expect(clippy::print_stdout, reason = "a test prints its figures")]

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
