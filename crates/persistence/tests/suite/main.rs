//! The behaviour of the database on both backends, one file for each group of behaviours.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod fixture;
mod joined_people;

/// Makes two tests of each behaviour, `sqlite::…` and `postgres::…`, each on a new database with an
/// account, a key and a prism.
macro_rules! on_both {
    ($($behaviour:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour(crate::fixture::Fixture::sqlite().await).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour(crate::fixture::Fixture::postgres().await).await;
            })*
        }
    };
}

mod accounts;
mod answer_pages;
mod api_keys;
mod backups;
mod calls;
mod changes;
mod connecting;
mod event_transactions;
mod events;
mod exports;
mod file_runs;
mod forgetting;
mod groups;
mod lenses;
mod makers;
mod marks;
mod migrations;
mod people;
mod prisms;
mod provenance;
mod races;
mod retries;
mod round_trip;
mod runtimes;
mod saving;
mod schemas;
mod sessions;
mod tls;
mod upgrades;
mod versions;
mod waiting;
