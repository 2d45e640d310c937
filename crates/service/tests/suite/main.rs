//! The behaviour of use cases on both databases, one file for each group of behaviours.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod fixture;
mod oracle;

/// Makes two tests of each behaviour, `sqlite::…` and `postgres::…`, each on a new database.
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

mod downloads;
mod events;
mod forgetting;
mod people;
mod result_counts;
mod result_search;
mod retention;
mod sign_in;
mod sign_in_events;
