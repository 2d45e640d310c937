//! An SQLite file, and how a connection to it is opened.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection as _;
use diesel::result::Error;
use diesel::{Connection as _, ConnectionError, ConnectionResult, SqliteConnection};

use crate::connections::deadline::WAIT;

/// Pause before a locked file is tried again.
const PAUSE: Duration = Duration::from_millis(5);

/// Sets up a connection that writes: it waits for other processes, a commit is on the disk when it
/// is acknowledged, and deleted data is overwritten with zeros.
pub(crate) const WRITER: &str = "PRAGMA busy_timeout = 10000; PRAGMA synchronous = FULL; \
    PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;";

/// Sets up a connection that only reads.
pub(crate) const READER: &str = "PRAGMA busy_timeout = 10000; PRAGMA query_only = ON;";

/// Sets up a connection that copies: it reads this file and writes another, which `query_only`
/// would refuse.
const COPIER: &str = "PRAGMA busy_timeout = 10000; PRAGMA synchronous = FULL;";

/// Opens a connection that copies the file. Blocks the thread.
pub(crate) fn open_copier(path: &Path) -> ConnectionResult<SqliteConnection> {
    open(path, COPIER)
}

/// Opens a connection and sets it up with these pragmas. Blocks the thread.
pub(crate) fn open(path: &Path, setup: &str) -> ConnectionResult<SqliteConnection> {
    let path = path.to_str().ok_or_else(|| {
        ConnectionError::BadConnection("the path of the database is not UTF-8".to_owned())
    })?;
    let mut connection = SqliteConnection::establish(path)?;
    connection
        .batch_execute(setup)
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// Switches the file to a write-ahead log permanently, so that readers and the writer do not wait
/// for each other.
///
/// When several processes switch a new file at once, SQLite refuses all but one immediately,
/// whatever their busy timeout, since each holds a lock that another needs. A refused process
/// retries.
pub(crate) fn keep_write_ahead_log(connection: &mut SqliteConnection) -> ConnectionResult<()> {
    let end = Instant::now() + WAIT;
    loop {
        match connection.batch_execute("PRAGMA journal_mode = WAL") {
            Err(error) if is_locked(&error) && Instant::now() < end => {
                thread::sleep(PAUSE);
            }
            done => return done.map_err(ConnectionError::CouldntSetupConfiguration),
        }
    }
}

/// Whether another process holds a lock on the file. diesel keeps SQLite's message, not its code.
fn is_locked(error: &Error) -> bool {
    matches!(error, Error::DatabaseError(_, what) if what.message() == "database is locked")
}
