//! The connections to an SQLite file that one process shares: one that writes and a few that read.

use std::path::{Path, PathBuf};
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
use crate::connections::sqlite::{self, READER, WRITER};
use crate::error::ConnectError;

/// Connections that read, each of which may keep one thread busy.
const READERS: usize = 4;

/// Both pools of one file.
pub(crate) struct SqlitePools {
    /// The file, as an absolute path.
    pub(crate) path: PathBuf,
    /// Connections that read. Many may read while one writes.
    pub(crate) readers: Pool<AsyncSqliteConnection>,
    /// The one connection that writes: queries line up for it instead of waiting for a lock.
    pub(crate) writer: Pool<AsyncSqliteConnection>,
    /// How many lanes are open.
    pub(crate) open_lanes: Arc<AtomicUsize>,
}

impl SqlitePools {
    /// Makes the file where it is missing, readable for its owner only, and opens it once. It
    /// blocks its thread.
    pub(crate) fn open(path: PathBuf) -> Result<Self, ConnectError> {
        let failed = |reason: String| ConnectError::File {
            path: path.display().to_string(),
            reason,
        };
        sqlite::create_file(&path).map_err(failed)?;
        sqlite::open_writer(&path)
            .and_then(|mut connection| sqlite::keep_write_ahead_log(&mut connection))
            .map_err(|error| failed(error.to_string()))?;
        let readers = pool(&path, READER, READERS)?;
        let writer = pool(&path, WRITER, 1)?;
        Ok(Self {
            path,
            readers,
            writer,
            open_lanes: Arc::default(),
        })
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
            let opening = tokio::task::spawn_blocking(move || sqlite::open(&path, setup)).await;
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
