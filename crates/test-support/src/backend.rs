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
/// The function takes the value of `crate::on(backend).await`: a test program defines `on` at its
/// root, for instance as a function that opens a new database. A program whose functions set up
/// everything themselves defines it as [`std::future::ready`]. To use another function than
/// `crate::on`, name it first, as in `on_both!(with crate::drafts::on; a_draft_is_kept)`.
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
