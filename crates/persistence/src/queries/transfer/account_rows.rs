//! Pages of the rows that an account has, as lines of JSON.

use diesel::QueryableByName;
use diesel::sql_types::Text;

use super::account_table::AccountTable;
use super::lines::write_line;
use super::statements::written;
use crate::error::PersistenceError;

/// Rows that are read at once; a result may have a mebibyte.
pub(super) const ROWS_AT_ONCE: usize = 100;

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

/// One row.
#[derive(QueryableByName)]
pub(super) struct RowCells {
    #[diesel(sql_type = Text)]
    pub(super) cells: String,
}

/// The rows of one table as lines.
pub(super) fn page(
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
