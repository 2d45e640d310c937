//! The entry point to the database: opened once, cloned wherever queries are made. It keeps prism
//! versions and lenses by revision, which never change, in a bounded cache.

use refract_boxed_futures::boxed;
use std::future::Future;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::Arc;

use diesel::OptionalExtension as _;
use futures_util::FutureExt as _;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use refract_domain::ids::PrismId;
use refract_domain::lens::Lens;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_traces::{CallTrace, StatementName};
use tokio::runtime::Handle;

use crate::connections::{
    BoxFuture, Change, Connection, ConnectionUse, Connections, DatabaseUrl, ExclusiveConnection,
    GroupCommit, MissingFile, Pools, RowsQuery, Transaction, on,
};
use crate::error::{ConnectError, PersistenceError};
use crate::queries::results::insert::ResultRow;

/// The address of the database, and the number of connections that one process may hold.
#[derive(Clone)]
pub struct DatabaseSettings {
    /// `sqlite://PATH` or `postgres://…` (contract, `DATABASE_URL`). It may hold a password.
    pub url: DatabaseUrl,
    /// Connections to a PostgreSQL server, at least 1 (contract, `REFRACT_DATABASE_POOL`). Ignored
    /// for an SQLite file, which has one connection that writes, a few that read and one more for
    /// each [thread that serves](Database::for_this_thread).
    pub pool: usize,
}

/// An open database. Clones are cheap and share connections and caches.
#[derive(Clone)]
pub struct Database {
    pub(crate) connections: Connections,
    pub(crate) cached: Arc<Cached>,
    /// The queue of results that are saved at the same time; `None` where each result is inserted
    /// alone.
    pub(crate) group_commit: Option<Arc<GroupCommit<ResultRow>>>,
    /// The request that these statements belong to; none outside of requests.
    trace: CallTrace,
}

/// Values that never change once they are saved.
pub(crate) struct Cached {
    pub(crate) versions: Immutable<(PrismId, VersionNumber), PrismVersion>,
    /// By revision.
    pub(crate) lenses: Immutable<(PrismId, i32), Lens>,
}

#[boxed]
impl Database {
    /// Opens the database of the address; a missing SQLite file is created. The schema is left as
    /// it is: see [`Database::migrate`].
    ///
    /// Queries run on `runtime`, which should be the process's multi-threaded one and has to
    /// outlive this value; for the reads of an API call see [`Database::for_this_thread`].
    ///
    /// # Errors
    /// The address is unusable, or there is no database; worded for the operator.
    pub async fn connect(
        settings: &DatabaseSettings,
        runtime: Handle,
    ) -> Result<Self, ConnectError> {
        Self::open(settings, MissingFile::IsMade, runtime).await
    }

    /// Opens the database of the address like [`Database::connect`], but creates no file.
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

    /// Returns this database for one of several threads that serve many calls, each with its own
    /// runtime: reads and saved results go over lanes, connections that all calls of the thread
    /// share.
    ///
    /// The lanes of all threads together take up to half of the PostgreSQL pool, each at first use;
    /// a thread without a lane leases connections. For SQLite a lane is one connection that reads,
    /// which blocks the thread for as long as it takes to find a row. The value must not be used
    /// from another thread.
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

    /// Returns this database for one request: the reads and saves of an API call appear in its
    /// trace, where statements are traced.
    #[must_use]
    pub fn traced(self, trace: CallTrace) -> Self {
        Self { trace, ..self }
    }

    /// Pings the database for `/readyz`: on a lease, so that a pool without a free connection does
    /// not count as ready.
    ///
    /// # Errors
    /// When the database does not answer, or the SQLite file was deleted or replaced.
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

    /// Tries whether a pooler before PostgreSQL keeps prepared statements, without which every query
    /// would fail. Takes two further connections for a moment.
    ///
    /// # Errors
    /// [`ConnectError::LosesStatements`] when it does not.
    pub async fn check_pooler(&self) -> Result<(), ConnectError> {
        match self.connections.pools() {
            Pools::Postgres(pool) => pool.check_prepared_statements().await,
            Pools::Sqlite(_) => Ok(()),
        }
    }

    /// The current use of the connections of this process.
    pub fn connection_use(&self) -> ConnectionUse {
        ConnectionUse::of(self.connections.pools())
    }

    /// This database without the thread's lanes, for a read that may return much: on a lane it
    /// would hold up the statements of other calls. The value may be used from any thread.
    #[must_use]
    pub fn without_lanes(&self) -> Self {
        Self {
            connections: self.connections.without_lanes(),
            ..self.clone()
        }
    }

    /// Runs the database work of an API call, and traces it under this name.
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
        // a combinator: the future of an async function would contain the statement twice
        statement.inspect(move |ended| span.end(ended.as_ref().err().map(PersistenceError::kind)))
    }

    /// Runs a read-only query: see [`Connections::read`].
    pub(crate) fn read<T, Q, F>(&self, query: Q) -> BoxFuture<'_, Result<T, PersistenceError>>
    where
        T: Send + 'static,
        Q: FnOnce(Connection) -> F + Send + 'static,
        F: Future<Output = Result<T, PersistenceError>> + Send + 'static,
    {
        self.connections.read(query)
    }

    /// Runs a query that writes, on an exclusive connection.
    pub(crate) fn write<T, Q, F>(&self, query: Q) -> BoxFuture<'static, Result<T, PersistenceError>>
    where
        T: Send + 'static,
        Q: FnOnce(ExclusiveConnection) -> F + Send + 'static,
        F: Future<Output = Result<T, PersistenceError>> + Send + 'static,
    {
        self.connections.write(query)
    }

    /// Loads the rows of one query.
    pub(crate) fn load<T, Q>(&self, query: Q) -> BoxFuture<'_, Result<Vec<T>, PersistenceError>>
    where
        T: Send + 'static,
        Q: RowsQuery<T>,
    {
        self.read(async move |mut connection| Ok(on!(connection, load(query))?))
    }

    /// Finds the row of one query; `None` if there is no row.
    pub(crate) fn find<T, Q>(&self, query: Q) -> BoxFuture<'_, Result<Option<T>, PersistenceError>>
    where
        T: Send + 'static,
        Q: RowsQuery<T>,
    {
        self.read(async move |mut connection| Ok(on!(connection, get_result(query)).optional()?))
    }

    /// Runs one statement that changes rows; returns how many.
    pub(crate) fn execute<Q: Change>(
        &self,
        change: Q,
    ) -> BoxFuture<'static, Result<usize, PersistenceError>> {
        self.write(async move |mut connection| Ok(on!(connection, execute(change))?))
    }

    /// Begins a transaction and gives it to a body that writes, which commits it; a body that
    /// returns without rolls back. The body runs as a task of the main runtime to its end, even when
    /// the caller is cancelled.
    pub(crate) fn begin<T, B, F>(&self, body: B) -> BoxFuture<'static, Result<T, PersistenceError>>
    where
        T: Send + 'static,
        B: FnOnce(Transaction) -> F + Send + 'static,
        F: Future<Output = Result<T, PersistenceError>> + Send + 'static,
    {
        self.connections.begin(body)
    }
}

fn group_commit(connections: &Connections) -> Option<Arc<GroupCommit<ResultRow>>> {
    let groups_at_once = connections.groups_at_once()?;
    Some(Arc::new(GroupCommit::new(groups_at_once)))
}

/// Most JSON bytes of the values in one cache; in memory the values take a small multiple of that.
const BYTES: u64 = 32 * 1024 * 1024;
/// JSON bytes of a usual prism version, to size the cache's table.
const USUAL_BYTES: usize = 8 * 1024;

/// Values by key; the least useful are evicted when the bytes exceed the limit.
pub(crate) struct Immutable<K, V>(Cache<K, Weighed<V>, ByBytes>);

impl<K: Eq + Hash + Clone, V> Immutable<K, V> {
    pub(crate) fn new() -> Self {
        let items = usize::try_from(BYTES).unwrap_or(usize::MAX) / USUAL_BYTES;
        Self(Cache::with_weighter(items, BYTES, ByBytes))
    }

    pub(crate) fn get(&self, key: &K) -> Option<Arc<V>> {
        self.0.get(key).map(|weighed| weighed.value)
    }

    /// Keeps a value that was read from this many bytes of JSON.
    pub(crate) fn insert(&self, key: K, value: Arc<V>, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).max(1);
        self.0.insert(key, Weighed { value, bytes });
    }
}

struct Weighed<V> {
    value: Arc<V>,
    bytes: u64,
}

impl<V> Clone for Weighed<V> {
    fn clone(&self) -> Self {
        Self {
            value: Arc::clone(&self.value),
            bytes: self.bytes,
        }
    }
}

#[derive(Clone)]
struct ByBytes;

impl<K, V> Weighter<K, Weighed<V>> for ByBytes {
    fn weight(&self, _: &K, weighed: &Weighed<V>) -> u64 {
        weighed.bytes
    }
}
