//! Reads all rows of an account from one snapshot of PostgreSQL.

use diesel::sql_query;
use diesel_async::{AsyncPgConnection, RunQueryDsl as _, SimpleAsyncConnection as _};
use tokio::sync::mpsc;

use crate::connections::PostgresLease;
use crate::error::PersistenceError;
use crate::queries::transfer::account_table::AccountSelection;
use crate::queries::transfer::statements::SqlDialect;
use crate::queries::transfer::tables::ACCOUNT_TABLES;
use crate::queries::transfer::{AccountRows, ROWS_AT_ONCE, RowCells, page};

/// Begins the snapshot. The first page of a large table may take longer than a session's timeout.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
    SET LOCAL statement_timeout = 0";

/// Reads all rows in a transaction, and ends it.
pub(super) async fn read(
    mut lease: PostgresLease,
    selection: AccountSelection,
    pages: mpsc::Sender<AccountRows>,
) -> Result<(), PersistenceError> {
    lease.statements.batch_execute(BEGIN).await?;
    let read = read_tables(&mut lease.statements, selection, pages).await;
    lease.statements.batch_execute("ROLLBACK").await?;
    read
}

async fn read_tables(
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
            let rows: Vec<RowCells> = query.load(&mut *connection).await?;
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
