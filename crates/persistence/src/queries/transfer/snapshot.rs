//! Reads all rows of an account from one snapshot of the database.

#[cfg(feature = "postgres")]
mod postgres;

use diesel::connection::{DefaultLoadingMode, SimpleConnection as _};
use diesel::{SqliteConnection, sql_query};
use refract_boxed_futures::boxed;
use tokio::sync::mpsc;

use super::account_table::AccountSelection;
use super::statements::SqlDialect;
use super::tables::ACCOUNT_TABLES;
use super::{AccountRows, ROWS_AT_ONCE, RowCells, page};
use crate::connections::{ExclusiveConnection, on_postgres};
use crate::error::PersistenceError;
use crate::queries::database::Database;

#[boxed]
impl Database {
    /// Reads all rows of an account, table by table, and sends them in pages at the pace of the
    /// receiver. All pages are of one snapshot: PostgreSQL's repeatable read, SQLite's read
    /// transaction. Ends early when the receiver is dropped.
    ///
    /// # Errors
    /// When the database fails, or a row cannot be read.
    pub async fn read_account(
        &self,
        selection: AccountSelection,
        pages: mpsc::Sender<AccountRows>,
    ) -> Result<(), PersistenceError> {
        let reading = self.write(async move |connection| match connection {
            ExclusiveConnection::Postgres(lease) => {
                on_postgres!(lease, postgres::read(lease, selection, pages).await)
            }
            ExclusiveConnection::Sqlite(mut lease) => {
                let reading = lease.spawn_blocking(move |connection| {
                    connection.batch_execute("BEGIN")?;
                    let read = read_sqlite(connection, selection, &pages);
                    connection.batch_execute("ROLLBACK")?;
                    Ok(read)
                });
                let read: diesel::QueryResult<_> = reading.await;
                read?
            }
        });
        reading.await
    }
}

fn read_sqlite(
    connection: &mut SqliteConnection,
    selection: AccountSelection,
    pages: &mpsc::Sender<AccountRows>,
) -> Result<(), PersistenceError> {
    for table in ACCOUNT_TABLES {
        let query = sql_query(SqlDialect::Sqlite.select(table, &selection));
        let rows = diesel::RunQueryDsl::load_iter::<RowCells, DefaultLoadingMode>(
            query,
            &mut *connection,
        )?;
        let mut gathered = Vec::new();
        for row in rows {
            gathered.push(row?);
            if gathered.len() == ROWS_AT_ONCE
                && pages
                    .blocking_send(page(table, std::mem::take(&mut gathered))?)
                    .is_err()
            {
                return Ok(());
            }
        }
        let last = page(table, gathered)?;
        if last.rows > 0 && pages.blocking_send(last).is_err() {
            return Ok(());
        }
    }
    Ok(())
}
