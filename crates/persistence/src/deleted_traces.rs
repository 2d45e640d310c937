//! Removes traces of deleted rows from an SQLite file: copies of rows remain in the unused parts of
//! pages that were split or merged, and the write-ahead log has earlier versions of pages.

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Integer;
use refract_boxed_futures::boxed;

use crate::connections::ExclusiveConnection;
use crate::connections::sqlite::WRITER;
use crate::error::PersistenceError;
use crate::queries::Database;

/// A short wait: while emptying the log waits for readers, all writers are blocked.
const SHORT_WAIT: &str = "PRAGMA busy_timeout = 2000";

#[derive(QueryableByName)]
struct Checkpoint {
    /// 1 if a reader outlasted the statement's wait.
    #[diesel(sql_type = Integer)]
    busy: i32,
}

#[boxed]
impl Database {
    /// Rewrites an SQLite file with its current rows and no trace of deleted ones, and empties its
    /// log. Returns whether the log is empty: it is not when a reader takes longer than two
    /// seconds. Writers wait meanwhile. Does nothing for PostgreSQL, whose files are its
    /// operator's.
    ///
    /// # Errors
    /// When the database fails, for example because the disk has no room for a second file.
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
