//! The behaviour of use cases on both databases, one file for each group of behaviours.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod fixture;
mod sign_on_fixture;

mod events;
mod one_time_codes;
mod one_time_codes_of_others;
mod people;
mod sign_in;
mod sign_in_events;
mod sign_on;
mod sign_on_checks;
mod switched_one_time_codes;

use refract_test_support::backend::Backend;

use crate::fixture::Fixture;

/// A new database with an account.
async fn on(backend: Backend) -> Fixture {
    Fixture::on(backend).await
}
