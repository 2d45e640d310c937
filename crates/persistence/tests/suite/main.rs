//! The behaviour of the database on both backends, one file for each group of behaviours.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod fixture;
mod joined_people;

mod account_rows;
mod accounts;
mod actors;
mod answer_pages;
mod api_keys;
mod backups;
mod calls;
mod changes;
mod client_certificates;
mod connecting;
mod counted_usage;
mod database_files;
mod definitions;
mod deletions;
mod event_transactions;
mod events;
mod example_texts;
mod exports;
mod file_runs;
mod groups;
mod lenses;
mod marks;
mod marks_of_people;
mod migrations;
mod migrations_undone;
mod one_time_codes;
mod people;
mod prisms;
mod provenance;
mod races;
mod renewed_passwords;
mod replaced_keys;
mod retest_leases;
mod retests;
mod retries;
mod round_trip;
mod run_leases;
mod runtimes;
mod samples;
mod saving;
mod schemas;
mod server_facts;
mod sessions;
mod sign_in_events;
mod sign_in_tries;
mod sittings;
mod stored_runs;
mod tls;
mod upgrades;
mod uploads;
mod usage;
mod versions;
mod waiting;

use refract_test_support::backend::Backend;

use crate::fixture::Fixture;

/// A new database with an account, a key and a prism.
async fn on(backend: Backend) -> Fixture {
    match backend {
        Backend::Sqlite => Fixture::sqlite().await,
        Backend::Postgres => Fixture::postgres().await,
    }
}
