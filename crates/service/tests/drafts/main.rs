//! Drafts and trials on both databases: lenses and versions before they are saved, texts asked of
//! several versions and in other orders.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that meets the unexpected ends there"
)]

mod fixture;

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

mod applies;
mod apply_events;
mod lens_drafts;
mod meanwhile;
mod order_checks;
mod trials;
mod version_drafts;
