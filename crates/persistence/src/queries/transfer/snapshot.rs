//! Reads all rows of an account from one snapshot of the database.

use diesel::connection::{DefaultLoadingMode, SimpleConnection as _};
use diesel::sql_types::Text;
use diesel::{QueryableByName, SqliteConnection, sql_query};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection as _};
use tokio::sync::mpsc;

use super::account_table::{AccountSelection, AccountTable};
use super::lines::write_line;
use super::statements::{SqlDialect, written};
use super::tables::ACCOUNT_TABLES;
use crate::connections::ExclusiveConnection;
use crate::error::PersistenceError;
use crate::queries::database::Database;

/// Rows that are read at once; a result may have a mebibyte.
const ROWS_AT_ONCE: usize = 100;

/// Begins the snapshot. The first page of a large table may take longer than a session's timeout.
const BEGIN_POSTGRES: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
    SET LOCAL statement_timeout = 0";

/// Rows of one table.
#[derive(Debug)]
pub struct AccountRows {
    /// The table. All rows of one table come before those of the next.
    pub table: &'static AccountTable,
    /// A line of JSON for each row, in the order of the primary key.
    pub lines: Vec<u8>,
    /// The number of rows.
    pub rows: u64,
}

#[derive(QueryableByName)]
struct RowCells {
    #[diesel(sql_type = Text)]
    cells: String,
}

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
            ExclusiveConnection::Postgres(mut lease) => {
                lease.batch_execute(BEGIN_POSTGRES).await?;
                let read = read_postgres(&mut lease, selection, pages).await;
                lease.batch_execute("ROLLBACK").await?;
                read
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

async fn read_postgres(
    connection: &mut AsyncPgConnection,
    selection: AccountSelection,
    pages: mpsc::Sender<AccountRows>,
) -> Result<(), PersistenceError> {
    let fetch = format!("FETCH FORWARD {ROWS_AT_ONCE} FROM account_rows");
    for table in ACCOUNT_TABLES {
        let select = SqlDialect::Postgres.select(table, &selection);
        let declare = format!("DECLARE account_rows NO SCROLL CURSOR FOR {select}");
        connection.batch_execute(&declare).await?;
        loop {
            let query = sql_query(fetch.as_str());
            let rows: Vec<RowCells> =
                diesel_async::RunQueryDsl::load(query, &mut *connection).await?;
            let is_last = rows.len() < ROWS_AT_ONCE;
            let page = page(table, rows)?;
            if page.rows > 0 && pages.send(page).await.is_err() {
                return Ok(());
            }
            if is_last {
                break;
            }
        }
        connection.batch_execute("CLOSE account_rows").await?;
    }
    Ok(())
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

fn page(
    table: &'static AccountTable,
    found: Vec<RowCells>,
) -> Result<AccountRows, PersistenceError> {
    let columns: Vec<_> = written(table).collect();
    let mut lines = Vec::new();
    let mut rows = 0;
    for row in found {
        write_line(&columns, &row.cells, &mut lines)?;
        rows += 1;
    }
    Ok(AccountRows { table, lines, rows })
}
