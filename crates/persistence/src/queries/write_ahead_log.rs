//! Emptying SQLite's write-ahead log, in which pages are left as they were before a deletion.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Integer;

use crate::connections::ExclusiveConnection;
use crate::error::PersistenceError;
use crate::queries::database::Database;

#[derive(QueryableByName)]
struct Checkpoint {
    /// 1 where somebody read or wrote for longer than the statement waited.
    #[diesel(sql_type = Integer)]
    busy: i32,
}

impl Database {
    /// Writes what SQLite's log holds into the file and empties the log. Returns whether the log is
    /// empty: it is not when somebody read or wrote for ten seconds. PostgreSQL's log is its
    /// operator's; there it does nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn empty_write_ahead_log(&self) -> Result<bool, PersistenceError> {
        self.write(async move |connection| {
            let ExclusiveConnection::Sqlite(mut lease) = connection else {
                return Ok(true);
            };
            let empty = |connection: &mut SqliteConnection| {
                let query = sql_query("PRAGMA wal_checkpoint(TRUNCATE)");
                RunQueryDsl::get_result::<Checkpoint>(query, connection)
            };
            Ok(lease.spawn_blocking(empty).await?.busy == 0)
        })
        .await
    }
}
