//! Everything that one account has, as lines of JSON: read from one snapshot, and written into an
//! account of either database. And pages of the rows that an account has, as lines of JSON.
//!
//! [`ACCOUNT_TABLES`] lists each column of each table once, with its form in a line and with what an
//! import makes of it. A column that is in neither that list nor [`TABLES_LEFT_OUT`] fails a test.

mod account_table;
mod files;
mod import;
mod snapshot;
mod statements;
mod tables;

use chrono::{DateTime, SecondsFormat, Utc};
use diesel::QueryableByName;
use diesel::sql_types::Text;
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use self::statements::written;
use crate::error::PersistenceError;
use crate::queries::transfer::account_table::{StoredColumn, StoredKind};

pub use self::account_table::{AccountSelection, AccountTable};
pub use self::files::{FileRow, ImportContext, ImportedRow, RowError};
pub use self::import::{AccountImportState, ImportRows, ImportRowsOutcome};
pub use self::tables::{ACCOUNT_TABLES, TABLES_LEFT_OUT};

/// Rows that are read at once; a result may have a mebibyte.
const ROWS_AT_ONCE: usize = 100;

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
struct RowCells {
    #[diesel(sql_type = Text)]
    cells: String,
}

/// The rows of one table as lines.
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

/// Appends the line of a row, from the JSON array of its cells.
fn write_line(
    columns: &[&'static StoredColumn],
    cells: &str,
    lines: &mut Vec<u8>,
) -> Result<(), PersistenceError> {
    let cells: Vec<Value> = serde_json::from_str(cells).map_err(|_| unreadable("a row"))?;
    let mut separator = b'{';
    for (column, cell) in columns.iter().zip(&cells) {
        lines.push(separator);
        separator = b',';
        lines.push(b'"');
        lines.extend_from_slice(column.name.as_bytes());
        lines.extend_from_slice(b"\":");
        write_value(column, cell, lines)?;
    }
    lines.extend_from_slice(b"}\n");
    Ok(())
}

fn write_value(
    column: &'static StoredColumn,
    cell: &Value,
    line: &mut Vec<u8>,
) -> Result<(), PersistenceError> {
    let failed = || unreadable(column.name);
    let text = || cell.as_str().ok_or_else(failed);
    let value = match column.kind {
        _ if cell.is_null() => Value::Null,
        StoredKind::Text | StoredKind::Bytes => text()?.into(),
        StoredKind::Whole => cell.as_i64().ok_or_else(failed)?.into(),
        StoredKind::Id => {
            let id = Uuid::parse_str(text()?).map_err(|_| failed())?;
            id.hyphenated().to_string().into()
        }
        StoredKind::Moment => {
            let milliseconds = cell.as_i64().ok_or_else(failed)?;
            let moment: DateTime<Utc> =
                DateTime::from_timestamp_millis(milliseconds).ok_or_else(failed)?;
            moment.to_rfc3339_opts(SecondsFormat::Millis, true).into()
        }
        StoredKind::Json => {
            // as it is stored: the order of its keys means something
            let json: &RawValue = serde_json::from_str(text()?).map_err(|_| failed())?;
            if json.get().contains('\n') {
                return Err(failed());
            }
            line.extend_from_slice(json.get().as_bytes());
            return Ok(());
        }
    };
    serde_json::to_writer(line, &value).map_err(|_| failed())
}

fn unreadable(column: &'static str) -> PersistenceError {
    PersistenceError::Unreadable { column }
}
