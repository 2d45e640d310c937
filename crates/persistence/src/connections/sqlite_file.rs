//! The SQLite file of a process: created if allowed, opened, and watched.
//!
//! A file that is deleted or replaced while it is open lives on without a name: rows saved into it
//! are lost when the last connection closes. So the file under the path is compared with the open
//! one, by device and inode, before every write and in every ping. That costs about a microsecond.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use diesel::ConnectionError::BadConnection;
use diesel::connection::SimpleConnection as _;
use diesel::{ConnectionError, ConnectionResult, SqliteConnection};

use crate::connections::sqlite::{self, WRITER};
use crate::error::{ConnectError, PersistenceError};

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
    identity: FileIdentity,
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
        sqlite::open(&path, WRITER)
            .and_then(|mut connection| match missing {
                MissingFile::IsMade => sqlite::keep_write_ahead_log(&mut connection),
                // reads the file: setting up the connection does not
                MissingFile::IsRefused => connection
                    .batch_execute("SELECT 1 FROM sqlite_master LIMIT 1")
                    .map_err(ConnectionError::CouldntSetupConfiguration),
            })
            .map_err(|error| failed(error.to_string()))?;
        let identity = FileIdentity::of(&path).map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            path,
            identity,
            is_logged: AtomicBool::default(),
        })
    }

    /// Opens a connection and sets it up with these pragmas. Blocks the thread.
    ///
    /// A file that replaced the open one is refused: rows would be split between the two files.
    pub(crate) fn connect(&self, setup: &str) -> ConnectionResult<SqliteConnection> {
        self.check()
            .map_err(|error| BadConnection(error.to_string()))?;
        sqlite::open(&self.path, setup)
    }

    /// Checks that the file under the path is still the open one. Logs once when it is not, and
    /// once when it is again.
    pub(crate) fn check(&self) -> Result<(), PersistenceError> {
        let is_open_one = FileIdentity::of(&self.path).is_ok_and(|found| found == self.identity);
        if self.is_logged.load(Ordering::Relaxed) == is_open_one {
            self.log(is_open_one);
        }
        if is_open_one {
            return Ok(());
        }
        let words = "its file was deleted or replaced while it was open";
        Err(PersistenceError::Unavailable(words.to_owned()))
    }

    fn log(&self, is_open_one: bool) {
        // only one of the threads that notice it logs it
        if self.is_logged.swap(!is_open_one, Ordering::Relaxed) != is_open_one {
            return;
        }
        let path = self.path.display();
        if is_open_one {
            tracing::info!("the database file {path} is the open one again: results are saved");
        } else {
            tracing::error!(
                "the database file {path} was deleted or replaced while it is open: nothing is saved \
                 until it is put back; to use another file in its place, restart the node"
            );
        }
    }
}

/// Creates the file if it is missing, readable by its owner only. An existing file is not even
/// opened: closing it would release every lock that this process holds on it (POSIX), SQLite's
/// included.
fn create(path: &Path) -> Result<(), String> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
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
