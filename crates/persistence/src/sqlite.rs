//! Connections to an SQLite file: one that writes and a few that read.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use deadpool::Runtime;
use diesel::connection::SimpleConnection as _;
use diesel::result::Error;
use diesel::{Connection as _, ConnectionError, ConnectionResult, SqliteConnection};
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{
    AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod,
};
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard};

use crate::connection::{AsyncSqliteConnection, Blocked};
use crate::database::WAIT;
use crate::error::{ConnectError, PersistenceError};
use crate::gathering::Gathering;

/// Connections that read, each of which may keep one thread busy.
const READERS: usize = 4;

/// Until a file is asked again that others were changing.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits for other processes. A commit is on the disk when it is acknowledged.
const WRITER: &str =
    "PRAGMA busy_timeout = 10000; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";
const READER: &str = "PRAGMA busy_timeout = 10000; PRAGMA query_only = ON;";

/// Copying reads the file and writes another, so that `query_only` would stop it.
const COPIER: &str = "PRAGMA busy_timeout = 10000; PRAGMA synchronous = FULL;";

/// Both pools of one file.
pub(crate) struct SqlitePools {
    /// The file, as an absolute path.
    pub(crate) path: PathBuf,
    /// Many may read at once, while one writes.
    pub(crate) readers: Pool<AsyncSqliteConnection>,
    /// The only one that writes: who waits, waits in line and not in a lock.
    pub(crate) writer: Pool<AsyncSqliteConnection>,
    /// Results that wait for it.
    pub(crate) gathering: Arc<Gathering>,
    /// How many connections are open in lanes.
    pub(crate) of_threads: Arc<AtomicUsize>,
}

impl SqlitePools {
    /// Makes the file where it is missing, readable for its owner only, and opens it once.
    pub(crate) fn open(path: PathBuf) -> Result<Self, ConnectError> {
        let failed = |reason: String| ConnectError::File {
            path: path.display().to_string(),
            reason,
        };
        create_file(&path).map_err(failed)?;
        open_writer(&path)
            .and_then(|mut connection| keep_write_ahead_log(&mut connection))
            .map_err(|error| failed(error.to_string()))?;
        let readers = pool(&path, READER, READERS)?;
        let writer = pool(&path, WRITER, 1)?;
        Ok(Self {
            path,
            readers,
            writer,
            gathering: Arc::new(Gathering::new(1)),
            of_threads: Arc::default(),
        })
    }
}

/// The place of a connection that reads and belongs to one thread, which it blocks for the time of
/// a statement: those of an API call find one row by an index, which takes less time than another
/// thread needs to wake up. Nobody makes it wait: in a file with a write-ahead log, those who read
/// and the one who writes do not hold each other up.
pub(crate) struct SqliteLane {
    path: PathBuf,
    connection: OnceCell<Arc<Mutex<AsyncSqliteConnection>>>,
    of_threads: Arc<AtomicUsize>,
}

/// The connection of a lane, while a query uses it.
pub(crate) type SqliteOfThread = OwnedMutexGuard<AsyncSqliteConnection>;

impl SqliteLane {
    /// It is opened when it is needed.
    pub(crate) fn new(pools: &SqlitePools) -> Self {
        Self {
            path: pools.path.clone(),
            connection: OnceCell::new(),
            of_threads: Arc::clone(&pools.of_threads),
        }
    }

    /// The connection, opened on this thread when it is not yet.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) async fn reader(&self) -> Result<SqliteOfThread, PersistenceError> {
        let opening = self.connection.get_or_try_init(async || {
            let opened = open(&self.path, READER)?;
            self.of_threads.fetch_add(1, Ordering::Relaxed);
            let connection = AsyncSqliteConnection::with_runtime(opened, Blocked::This);
            Ok(Arc::new(Mutex::new(connection)))
        });
        let connection = opening
            .await
            .map_err(|error: ConnectionError| PersistenceError::Unavailable(error.to_string()))?;
        Ok(Arc::clone(connection).lock_owned().await)
    }
}

impl Drop for SqliteLane {
    fn drop(&mut self) {
        if self.connection.initialized() {
            self.of_threads.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A connection that writes, for a thread that may block.
pub(crate) fn open_writer(path: &Path) -> ConnectionResult<SqliteConnection> {
    open(path, WRITER)
}

/// A connection that copies, for a thread that may block.
pub(crate) fn open_copier(path: &Path) -> ConnectionResult<SqliteConnection> {
    open(path, COPIER)
}

fn open(path: &Path, setup: &str) -> ConnectionResult<SqliteConnection> {
    let path = path.to_str().ok_or_else(|| {
        ConnectionError::BadConnection("the path of the database is not UTF-8".to_owned())
    })?;
    let mut connection = SqliteConnection::establish(path)?;
    connection
        .batch_execute(setup)
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// Lets those who read and the one who writes work side by side, as long as there is the file.
///
/// Of several who change a new file at once SQLite refuses all but one on the spot, however long
/// they would wait for a lock, since each of them holds one that another needs: they come again.
fn keep_write_ahead_log(connection: &mut SqliteConnection) -> ConnectionResult<()> {
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

/// Whether others are at the file. diesel has SQLite's words for that, but not its code.
fn is_locked(error: &Error) -> bool {
    matches!(error, Error::DatabaseError(_, what) if what.message() == "database is locked")
}

/// Makes the file where it is missing. One that is there is not even opened: closing it would end
/// every lock that this process has on it (POSIX), those of SQLite among them.
fn create_file(path: &Path) -> Result<(), String> {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _until_it_is_closed = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(path);
            Err(format!("the folder {} does not exist", folder.display()))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn pool(
    path: &Path,
    setup: &'static str,
    size: usize,
) -> Result<Pool<AsyncSqliteConnection>, ConnectError> {
    let mut config = ManagerConfig::default();
    config.recycling_method = RecyclingMethod::Fast;
    let path = path.to_owned();
    config.custom_setup = Box::new(move |_| {
        let path = path.clone();
        Box::pin(async move {
            let opening = tokio::task::spawn_blocking(move || open(&path, setup)).await;
            let opened = opening.map_err(|error| ConnectionError::BadConnection(error.to_string()));
            opened?.map(AsyncSqliteConnection::new)
        })
    });
    let manager = AsyncDieselConnectionManager::new_with_config(String::new(), config);
    Pool::builder(manager)
        .max_size(size)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(WAIT))
        .create_timeout(Some(WAIT))
        .build()
        .map_err(|error| ConnectError::Address(error.to_string()))
}
