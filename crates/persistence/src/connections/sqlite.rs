//! The SQLite file of a process: created if allowed, opened, and watched; and its connections.
//!
//! A file that is deleted or replaced while it is open lives on without a name: rows saved into it
//! are lost when the last connection closes. The write-ahead log is such a file too: its rows come
//! into the database file at a checkpoint, and a crash before it loses them. So the files under the
//! paths are compared with the open ones, by device and inode, before every write and in every
//! ping. That costs a microsecond for each of the three.
//!
//! SQLite makes the log (`-wal`) and its index (`-shm`) for the first connection of all processes
//! that reads, and removes both when the last one closes. So one connection stays open as long as
//! the process has the file: meanwhile no process replaces them, and a difference is a fault.

mod connection;

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

use self::connection::BlockedThread;
pub(crate) use self::connection::{AsyncSqliteConnection, ChangeOnSqlite, RowsOnSqlite, on_sqlite};
use crate::error::{ConnectError, PersistenceError, WAIT};

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

/// Whether a missing file is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingFile {
    /// The file is created.
    IsMade,
    /// Opening fails.
    IsRefused,
}

/// An open SQLite file.
pub(crate) struct SqliteFile {
    /// An absolute path.
    path: PathBuf,
    /// The database file; in WAL mode also the log and its index.
    open: Vec<(PathBuf, FileIdentity)>,
    /// Holds a shared lock on the file, without which another process could remove the log.
    _holder: std::sync::Mutex<SqliteConnection>,
    /// Whether it was already logged that the file under the path is not the open one.
    is_logged: AtomicBool,
}

/// Device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity(u64, u64);

impl FileIdentity {
    fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self(found.dev(), found.ino()))
    }
}

/// SQLite's words for a file that it cannot open, with what it needs.
fn with_remedy(words: String) -> String {
    if words.contains("unable to open database file") {
        format!("{words}: this user must be able to write to the file and to its folder")
    } else {
        words
    }
}

impl SqliteFile {
    /// Opens the file once. A new file is readable by its owner only; a file that must exist may be
    /// another program's, and is not changed. Blocks the thread.
    pub(crate) fn open(path: PathBuf, missing: MissingFile) -> Result<Self, ConnectError> {
        let failed = |reason: String| ConnectError::File {
            path: path.display().to_string(),
            reason,
        };
        match missing {
            MissingFile::IsMade => create(&path).map_err(failed)?,
            MissingFile::IsRefused if !path.exists() => {
                return Err(ConnectError::NoFile { path });
            }
            MissingFile::IsRefused => {}
        }
        let (holder, open) =
            hold(&path, missing).map_err(|error| failed(with_remedy(error.to_string())))?;
        Ok(Self {
            path,
            open,
            _holder: std::sync::Mutex::new(holder),
            is_logged: AtomicBool::default(),
        })
    }

    /// Opens a connection and sets it up with these pragmas. Blocks the thread.
    ///
    /// A file that replaced the open one is refused: rows would be split between the two files.
    pub(crate) fn connect(&self, setup: &str) -> ConnectionResult<SqliteConnection> {
        if let Some(lost) = self.find_lost() {
            return Err(ConnectionError::BadConnection(lost));
        }
        open(&self.path, setup)
    }

    /// Checks that the files under the paths are still the open ones.
    pub(crate) fn check(&self) -> Result<(), PersistenceError> {
        let lost = self.find_lost().map(PersistenceError::Unavailable);
        lost.map_or(Ok(()), Err)
    }

    /// What happened to a file under its path that is not the open one any more; `None` where all
    /// are. Logs once when one is not, and once when they are again.
    fn find_lost(&self) -> Option<String> {
        let is_open_one = |(path, identity): &&(PathBuf, FileIdentity)| {
            FileIdentity::of(path).is_ok_and(|found| found == *identity)
        };
        let lost = self.open.iter().find(|file| !is_open_one(file));
        let lost = lost.map(|(path, _)| path.as_path());
        if self.is_logged.load(Ordering::Relaxed) != lost.is_some() {
            self.log(lost);
        }
        let what = if lost? == self.path { "file" } else { "log" };
        Some(format!(
            "its {what} was deleted or replaced while it was open"
        ))
    }

    fn log(&self, lost: Option<&Path>) {
        // only one of the threads that notice it logs it
        if self.is_logged.swap(lost.is_some(), Ordering::Relaxed) == lost.is_some() {
            return;
        }
        let Some(lost) = lost else {
            let path = self.path.display();
            tracing::info!("the database file {path} is the open one again: results are saved");
            return;
        };
        let remedy = if lost == self.path {
            "to use another file in its place, restart the node"
        } else {
            "if it is gone, stop the node, which saves what is in it, and start it again"
        };
        tracing::error!(
            "the database file {} was deleted or replaced while it is open: nothing is saved until \
             it is put back; {remedy}",
            lost.display()
        );
    }
}

/// Opens a connection that has read the file, and finds the files that it has open. Blocks the
/// thread.
fn hold(
    path: &Path,
    missing: MissingFile,
) -> ConnectionResult<(SqliteConnection, Vec<(PathBuf, FileIdentity)>)> {
    let mut holder = open(path, WRITER)?;
    if missing == MissingFile::IsMade {
        keep_write_ahead_log(&mut holder)?;
    }
    let files = ["", "-wal", "-shm"].map(|end| {
        let mut file = path.as_os_str().to_owned();
        file.push(end);
        PathBuf::from(file)
    });
    let found = holder.transaction(|holder| {
        // opens the log, if the file has one; in another mode nobody can make one until the
        // transaction ends
        holder.batch_execute("SELECT 1 FROM sqlite_master LIMIT 1")?;
        let [_, log, _] = &files;
        let open = if log.exists() { files.len() } else { 1 };
        let identified = files.into_iter().take(open).map(|file| {
            let identity = FileIdentity::of(&file)?;
            Ok((file, identity))
        });
        let identified: io::Result<Vec<_>> = identified.collect();
        identified.map_err(|error| Error::QueryBuilderError(error.into()))
    });
    let found = found.map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok((holder, found))
}

/// Creates the file if it is missing, readable by its owner only. An existing file is not even
/// opened: closing it would release every lock that this process holds on it (POSIX), SQLite's
/// included.
fn create(path: &Path) -> Result<(), String> {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _until_it_is_closed = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    options.mode(0o600);
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

/// Connections that read, each of which may keep one thread busy.
const READERS: usize = 4;

/// Both pools of one file.
pub(crate) struct SqlitePools {
    /// The file.
    pub(crate) file: Arc<SqliteFile>,
    /// Connections that read. Many may read while one writes.
    pub(crate) readers: Pool<AsyncSqliteConnection>,
    /// The one connection that writes: queries queue for it instead of waiting for a lock.
    pub(crate) writer: Pool<AsyncSqliteConnection>,
    /// How many lanes are open.
    pub(crate) open_lanes: Arc<AtomicUsize>,
}

impl SqlitePools {
    /// Opens the file once. Blocks the thread.
    pub(crate) fn open(path: PathBuf, missing: MissingFile) -> Result<Self, ConnectError> {
        let file = Arc::new(SqliteFile::open(path, missing)?);
        let readers = pool(&file, READER, READERS)?;
        let writer = pool(&file, WRITER, 1)?;
        Ok(Self {
            file,
            readers,
            writer,
            open_lanes: Arc::default(),
        })
    }
}

fn pool(
    file: &Arc<SqliteFile>,
    setup: &'static str,
    size: usize,
) -> Result<Pool<AsyncSqliteConnection>, ConnectError> {
    let mut config = ManagerConfig::default();
    config.recycling_method = RecyclingMethod::Fast;
    let file = Arc::clone(file);
    config.custom_setup = Box::new(move |_| {
        let file = Arc::clone(&file);
        Box::pin(async move {
            let opening = tokio::task::spawn_blocking(move || file.connect(setup)).await;
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

/// The lane of one thread; its connection only reads.
pub(crate) struct SqliteLane {
    file: Arc<SqliteFile>,
    connection: OnceCell<Arc<Mutex<AsyncSqliteConnection>>>,
    open_lanes: Arc<AtomicUsize>,
}

impl SqliteLane {
    /// A lane whose connection is opened at its first use.
    pub(crate) fn new(pools: &SqlitePools) -> Self {
        Self {
            file: Arc::clone(&pools.file),
            connection: OnceCell::new(),
            open_lanes: Arc::clone(&pools.open_lanes),
        }
    }

    /// The connection, opened on this thread at first use.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) async fn reader(
        &self,
    ) -> Result<OwnedMutexGuard<AsyncSqliteConnection>, PersistenceError> {
        let opening = self.connection.get_or_try_init(async || {
            let opened = self.file.connect(READER)?;
            self.open_lanes.fetch_add(1, Ordering::Relaxed);
            let connection = AsyncSqliteConnection::with_runtime(opened, BlockedThread::OfCaller);
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
            self.open_lanes.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_opened_is_refused_with_what_it_needs() {
        let folder = std::env::temp_dir();
        let opened = SqliteFile::open(folder, MissingFile::IsRefused);
        let words = opened.err().map(|error| error.to_string());
        let needs = "this user must be able to write to the file and to its folder";
        assert!(words.is_some_and(|words| words.ends_with(needs)));
    }
}
