//! Everything that one account has, as lines of JSON: read from one snapshot, and written into an
//! account of either database.
//!
//! [`ACCOUNT_TABLES`] lists each column of each table once, with its form in a line and with what an
//! import makes of it. A column that is in neither that list nor [`TABLES_LEFT_OUT`] fails a test.

mod account_rows;
mod account_table;
mod files;
mod import;
mod snapshot;
mod statements;
mod tables;

pub use self::account_rows::AccountRows;
pub use self::account_table::{AccountSelection, AccountTable};
pub use self::files::{FileRow, ImportContext, ImportedRow, RowError};
pub use self::import::{AccountImportState, ImportRows, ImportRowsOutcome};
pub use self::tables::{ACCOUNT_TABLES, TABLES_LEFT_OUT};
