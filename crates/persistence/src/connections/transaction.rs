//! Transactions that write, on a connection of either database.
//!
//! diesel's own `transaction` takes an async closure over a borrowed connection, and rustc 1.95
//! fails on such closures in an incremental build of a changed crate.

use diesel::connection::AnsiTransactionManager;
use diesel::result::Error::RollbackTransaction;
use diesel::{QueryResult, SqliteConnection};
use diesel_async::{AsyncConnection, AsyncPgConnection, TransactionManager as _};

use crate::connections::connection::AsyncSqliteConnection;

/// Runs a block in a transaction: `in_transaction!(connection, |c| { … })`. The block is async and
/// ends in a `QueryResult`; an error in it rolls the transaction back.
macro_rules! in_transaction {
    ($connection:expr, |$c:ident| $block:block) => {
        match &mut $connection {
            $crate::connections::ExclusiveConnection::Postgres(lease) => {
                let $c: &mut diesel_async::AsyncPgConnection = lease;
                match $crate::connections::transaction::begin_postgres($c).await {
                    Ok(()) => {
                        let ended = async { $block }.await;
                        $crate::connections::transaction::end($c, ended).await
                    }
                    Err(error) => Err(error),
                }
            }
            $crate::connections::ExclusiveConnection::Sqlite(lease) => {
                let $c: &mut $crate::connections::AsyncSqliteConnection = lease;
                match $crate::connections::transaction::begin_sqlite($c).await {
                    Ok(()) => {
                        let ended = async { $block }.await;
                        $crate::connections::transaction::end($c, ended).await
                    }
                    Err(error) => Err(error),
                }
            }
        }
    };
}

/// Runs a block in a transaction like [`in_transaction!`], on an exclusive connection of a
/// [`Database`]: `transaction!(database, |c| { … })`. Returns the block's result.
///
/// [`Database`]: crate::queries::database::Database
macro_rules! transaction {
    ($database:expr, |$c:ident| $block:block) => {
        $database
            .write(async move |mut connection| {
                Ok($crate::connections::in_transaction!(connection, |$c| {
                    $block
                })?)
            })
            .await
    };
}

/// Runs a block like [`transaction!`] and returns whether it was committed: a block that ends in
/// `RollbackTransaction` found nothing to do, which is no error.
macro_rules! unless_rolled_back {
    ($database:expr, |$c:ident| $block:block) => {
        $database
            .write(async move |mut connection| {
                let ended = $crate::connections::in_transaction!(connection, |$c| $block);
                Ok($crate::connections::is_committed(ended)?)
            })
            .await
    };
}

/// Runs a statement in a transaction: `run!(c, statement)`, where `c` is the connection that the
/// transaction passes to its block. Returns how many rows were written.
macro_rules! run {
    ($c:expr, $statement:expr) => {
        diesel_async::RunQueryDsl::execute($statement, $c).await?
    };
}

pub(crate) use {in_transaction, run, transaction, unless_rolled_back};

pub(crate) async fn begin_postgres(connection: &mut AsyncPgConnection) -> QueryResult<()> {
    diesel_async::AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN").await
}

/// Begins with the write lock: a transaction that read first and then wrote could wait for a lock
/// whose holder waits for that read to end.
pub(crate) async fn begin_sqlite(connection: &mut AsyncSqliteConnection) -> QueryResult<()> {
    let begin = |connection: &mut SqliteConnection| {
        AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")
    };
    connection.spawn_blocking(begin).await
}

/// Commits after `Ok`; after an error, rolls back and returns the error.
pub(crate) async fn end<C: AsyncConnection, T>(
    connection: &mut C,
    ended: QueryResult<T>,
) -> QueryResult<T> {
    match ended {
        Ok(value) => {
            C::TransactionManager::commit_transaction(connection).await?;
            Ok(value)
        }
        Err(error) => {
            // a connection that cannot roll back is broken: the pool drops it and the database
            // rolls back
            let _ = C::TransactionManager::rollback_transaction(connection).await;
            Err(error)
        }
    }
}

/// Whether a transaction was committed; `false` if its block rolled it back.
pub(crate) fn is_committed(ended: QueryResult<()>) -> QueryResult<bool> {
    match ended {
        Ok(()) => Ok(true),
        Err(RollbackTransaction) => Ok(false),
        Err(error) => Err(error),
    }
}
