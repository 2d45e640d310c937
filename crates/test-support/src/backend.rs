//! The two databases, and the macro that runs a behaviour on both.

/// A database that Refract runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A file of SQLite.
    Sqlite,
    /// A database of a PostgreSQL server.
    Postgres,
}

/// Makes two tests of each named async function, `sqlite::…` and `postgres::…`.
///
/// The function takes what `crate::on(backend).await` returns: a test program defines `on` at its
/// root, such as a function that opens a new database. A program whose functions start what they
/// need defines it as [`std::future::ready`]. Another function than `crate::on` is named first, as in
/// `on_both!(with crate::drafts::on; a_draft_is_kept)`.
#[expect(
    clippy::crate_in_macro_def,
    reason = "the function `on` is of the test program"
)]
#[macro_export]
macro_rules! on_both {
    (with $on:path; $($behaviour:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour($on($crate::backend::Backend::Sqlite).await).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                super::$behaviour($on($crate::backend::Backend::Postgres).await).await;
            })*
        }
    };
    ($($behaviour:ident),* $(,)?) => {
        $crate::on_both!(with crate::on; $($behaviour),*);
    };
}
