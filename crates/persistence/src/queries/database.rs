//! The way to the database: opened once, cloned wherever queries are made.

mod cache;

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::FutureExt as _;
use refract_domain::ids::PrismId;
use refract_domain::lens::Lens;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_traces::{CallTrace, StatementName};
use tokio::runtime::Handle;

use crate::connections::{
    Connection, ConnectionUse, Connections, DatabaseUrl, ExclusiveConnection, GroupCommit,
    MissingFile, on,
};
use crate::error::{ConnectError, PersistenceError};
use crate::queries::database::cache::Immutable;
use crate::queries::results::row::ResultRow;

/// Where the database is and how much of it one process takes.
#[derive(Clone)]
pub struct DatabaseSettings {
    /// `sqlite://PATH` or `postgres://…` (contract, `DATABASE_URL`). It may hold a password.
    pub url: DatabaseUrl,
    /// Connections to a PostgreSQL server, at least 1 (contract, `REFRACT_DATABASE_POOL`). An
    /// SQLite file has one connection that writes, a few that read and one more for each [thread
    /// that serves](Database::for_this_thread), whatever stands here.
    pub pool: usize,
}

/// An open database. Clones are cheap and share connections and caches.
#[derive(Clone)]
pub struct Database {
    pub(crate) connections: Connections,
    pub(crate) cached: Arc<Cached>,
    /// The queue of results that are saved at the same time; `None` where each result goes alone.
    pub(crate) group_commit: Option<Arc<GroupCommit<ResultRow>>>,
    /// The request whose statements these are; none outside of requests.
    trace: CallTrace,
}

/// What never changes once it was saved.
pub(crate) struct Cached {
    pub(crate) versions: Immutable<(PrismId, VersionNumber), PrismVersion>,
    /// By revision.
    pub(crate) lenses: Immutable<(PrismId, i32), Lens>,
}

impl Database {
    /// Opens the database that the address names, and makes the file when it is an SQLite one that
    /// is missing. The schema is left as it is: see [`Database::migrate`].
    ///
    /// Queries run on `runtime`, which should be the process's multi-threaded one and has to
    /// outlive this value; for the reads of an API call see [`Database::for_this_thread`].
    ///
    /// # Errors
    /// An address that cannot be used, or no database there; in words for the operator.
    pub async fn connect(
        settings: &DatabaseSettings,
        runtime: Handle,
    ) -> Result<Self, ConnectError> {
        Self::open(settings, MissingFile::IsMade, runtime).await
    }

    /// Opens the database that the address names, as [`Database::connect`] does, but makes no file.
    ///
    /// # Errors
    /// As [`Database::connect`], and [`ConnectError::NoFile`] where the file is missing.
    pub async fn connect_existing(
        settings: &DatabaseSettings,
        runtime: Handle,
    ) -> Result<Self, ConnectError> {
        Self::open(settings, MissingFile::IsRefused, runtime).await
    }

    async fn open(
        settings: &DatabaseSettings,
        missing: MissingFile,
        runtime: Handle,
    ) -> Result<Self, ConnectError> {
        if settings.pool == 0 {
            return Err(ConnectError::EmptyPool);
        }
        let connections = Connections::open(&settings.url, settings.pool, missing, runtime).await?;
        Ok(Self {
            group_commit: group_commit(&connections),
            connections,
            cached: Arc::new(Cached {
                versions: Immutable::new(),
                lenses: Immutable::new(),
            }),
            trace: CallTrace::default(),
        })
    }

    /// This database for one of several threads that serve many calls, each with a runtime of its
    /// own: what it reads and the results that it saves go over lanes, connections of the thread
    /// that all its calls share.
    ///
    /// The lanes to a PostgreSQL server are half of the pool's connections between all threads,
    /// taken when they are first needed; a thread for which none is left leases. The lane to an
    /// SQLite file is one connection that reads, which blocks the thread for as long as it takes
    /// to find a row. The value must not be used from another thread.
    #[must_use]
    pub fn for_this_thread(&self, threads: NonZeroUsize) -> Self {
        let connections = self.connections.for_this_thread(threads);
        let of_all_threads = self.group_commit.clone();
        Self {
            group_commit: of_all_threads.or_else(|| group_commit(&connections)),
            connections,
            cached: Arc::clone(&self.cached),
            trace: self.trace.clone(),
        }
    }

    /// This database as one request uses it: what a call of the API reads and saves is traced where
    /// statements are wanted.
    #[must_use]
    pub fn traced(self, trace: CallTrace) -> Self {
        Self { trace, ..self }
    }

    /// Asks the database for a one, for `/readyz`: on a lease, so that a pool without a free
    /// connection does not count as ready.
    ///
    /// # Errors
    /// When the database does not answer, or an SQLite file is no longer the one that is open.
    pub async fn ping(&self) -> Result<(), PersistenceError> {
        self.connections.pools().check_place()?;
        let database = self.without_lanes();
        let ping = database.read(async move |mut connection| {
            let one = diesel::dsl::sql::<diesel::sql_types::Integer>("1");
            let _: i32 = on!(connection, get_result(diesel::select(one)))?;
            Ok(())
        });
        ping.await
    }

    /// How the connections of this process are used now.
    pub fn connection_use(&self) -> ConnectionUse {
        ConnectionUse::of(self.connections.pools())
    }

    /// This database without the lanes of its thread, for a read that may bring much: on a lane the
    /// statements of other calls would stand behind it.
    pub(crate) fn without_lanes(&self) -> Self {
        Self {
            connections: self.connections.without_lanes(),
            ..self.clone()
        }
    }

    /// Runs what a call of the API asks of the database, and traces it under this name.
    pub(crate) fn named<T, S>(
        &self,
        name: &'static StatementName,
        statement: S,
    ) -> impl Future<Output = Result<T, PersistenceError>> + use<T, S>
    where
        S: Future<Output = Result<T, PersistenceError>>,
    {
        let system = self.connections.pools().system();
        let span = self.trace.begin_statement(system, name);
        // a combinator: an async function would hold the statement twice
        statement.inspect(move |ended| span.end(ended.as_ref().err().map(PersistenceError::kind)))
    }

    /// Runs a query that only reads: see [`Connections::read`].
    pub(crate) fn read<T, Q, F>(
        &self,
        query: Q,
    ) -> impl Future<Output = Result<T, PersistenceError>> + use<'_, T, Q, F>
    where
        T: Send + 'static,
        Q: FnOnce(Connection) -> F + Send + 'static,
        F: Future<Output = Result<T, PersistenceError>> + Send + 'static,
    {
        self.connections.read(query)
    }

    /// Runs a query that writes, on a connection that it has to itself.
    pub(crate) fn write<T, Q, F>(
        &self,
        query: Q,
    ) -> impl Future<Output = Result<T, PersistenceError>> + use<T, Q, F>
    where
        T: Send + 'static,
        Q: FnOnce(ExclusiveConnection) -> F + Send + 'static,
        F: Future<Output = Result<T, PersistenceError>> + Send + 'static,
    {
        self.connections.write(query)
    }
}

fn group_commit(connections: &Connections) -> Option<Arc<GroupCommit<ResultRow>>> {
    let groups_at_once = connections.groups_at_once()?;
    Some(Arc::new(GroupCommit::new(groups_at_once)))
}
