//! Traces of deleted rows in an SQLite file: where pages were split or merged, copies of rows stay in
//! their unused parts, and the write-ahead log has pages as they were before.

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Integer;

use crate::connections::ExclusiveConnection;
use crate::connections::sqlite::WRITER;
use crate::error::PersistenceError;
use crate::queries::Database;

/// While emptying the log waits for readers, nobody writes.
const SHORT_WAIT: &str = "PRAGMA busy_timeout = 2000";

#[derive(QueryableByName)]
struct Checkpoint {
    /// 1 where somebody read for longer than the statement waited.
    #[diesel(sql_type = Integer)]
    busy: i32,
}

impl Database {
    /// Writes an SQLite file anew, with the rows that there are and nothing of those that were deleted,
    /// and empties its log. Returns whether the log is empty: it is not when somebody read for two
    /// seconds. Others that write wait meanwhile. For PostgreSQL, whose files are its operator's, it does
    /// nothing.
    ///
    /// # Errors
    /// When the database fails, such as without room on the disk for a second file.
    pub async fn remove_deleted_traces(&self) -> Result<bool, PersistenceError> {
        self.write(async move |connection| {
            let ExclusiveConnection::Sqlite(mut lease) = connection else {
                return Ok(true);
            };
            let remove = |connection: &mut SqliteConnection| {
                connection.batch_execute("VACUUM")?;
                connection.batch_execute(SHORT_WAIT)?;
                let query = sql_query("PRAGMA wal_checkpoint(TRUNCATE)");
                let emptied = RunQueryDsl::get_result::<Checkpoint>(query, connection);
                connection.batch_execute(WRITER)?;
                emptied
            };
            Ok(lease.spawn_blocking(remove).await?.busy == 0)
        })
        .await
    }
}
