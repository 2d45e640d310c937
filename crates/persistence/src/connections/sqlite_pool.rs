//! The connections to an SQLite file that one process shares: one that writes and a few that read.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use deadpool::Runtime;
use diesel::ConnectionError;
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{
    AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod,
};

use crate::connections::connection::AsyncSqliteConnection;
use crate::connections::deadline::WAIT;
use crate::connections::sqlite::{READER, WRITER};
use crate::connections::sqlite_file::{MissingFile, SqliteFile};
use crate::error::ConnectError;

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
