//! The way to the database: opened once, cloned wherever queries are made.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use refract_domain::ids::PrismId;
use refract_domain::lens::Lens;
use refract_domain::prism::{PrismVersion, VersionNumber};
use tokio::runtime::Handle;

use crate::address::Address;
use crate::cache::Immutable;
use crate::connection::{BoxFuture, Connection, Exclusive};
use crate::error::{ConnectError, PersistenceError};
use crate::gathering::Gathering;
use crate::lanes::Lanes;
use crate::postgres::{Connections, Open, Server};
use crate::sqlite::{SqliteLane, SqlitePools};

/// How long a query waits for a connection before it fails.
pub(crate) const WAIT: Duration = Duration::from_secs(10);

/// Where the database is and how much of it one process takes.
#[derive(Clone)]
pub struct DatabaseSettings {
    /// `sqlite://PATH` or `postgres://…` (contract, `DATABASE_URL`). It may hold a password.
    pub url: String,
    /// Connections to a PostgreSQL server, at least 1 (contract, `REFRACT_DATABASE_POOL`). SQLite
    /// has one that writes, a few that read and one more for each [thread that
    /// serves](Database::for_this_thread), whatever stands here.
    pub pool: usize,
}

/// An open database. Clones are cheap and share connections and caches.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
    of_thread: Option<Arc<OfThread>>,
}

/// What one thread has for itself.
enum OfThread {
    Postgres(Lanes),
    Sqlite(SqliteLane),
}

struct Shared {
    runtime: Handle,
    pools: Pools,
    versions: Immutable<(PrismId, VersionNumber), PrismVersion>,
    lenses: Immutable<(PrismId, i32), Lens>,
}

/// The connections that there are.
pub(crate) enum Pools {
    /// To a server.
    Postgres(Arc<Connections>),
    /// To a file.
    Sqlite(SqlitePools),
}

impl Database {
    /// Opens the database that the address names, and makes the file when it is an SQLite one that
    /// is missing. The schema is left as it is: see [`Database::migrate`].
    ///
    /// Queries run on `runtime`, which should be the process's multi-threaded one and has to
    /// outlive this value; for those of an API call see [`Database::for_this_thread`].
    ///
    /// # Errors
    /// An address that cannot be used, or nobody there; in words for the operator.
    pub async fn connect(
        settings: &DatabaseSettings,
        runtime: Handle,
    ) -> Result<Self, ConnectError> {
        if settings.pool == 0 {
            return Err(ConnectError::EmptyPool);
        }
        let address = Address::parse(&settings.url)?;
        let opening = run_on(&runtime, Pools::open(address, settings.pool)).await;
        let pools = opening.unwrap_or(Err(ConnectError::ShuttingDown))?;
        let shared = Arc::new(Shared {
            runtime,
            pools,
            versions: Immutable::new(),
            lenses: Immutable::new(),
        });
        Ok(Self {
            shared,
            of_thread: None,
        })
    }

    /// The same database for one of several threads that serve many calls, each with a runtime of
    /// its own: what their checks read and the results that they save go over connections of the
    /// thread, which all its calls share.
    ///
    /// Of a PostgreSQL server these are half of the pool's connections between all the threads,
    /// taken when they are first needed; a thread for which there is none leases as usual. Of an
    /// SQLite file it is one that reads, which blocks the thread as long as it takes to find a row.
    /// The value must not be used from another thread.
    #[must_use]
    pub fn for_this_thread(&self, threads: NonZeroUsize) -> Self {
        let of_thread = match &self.shared.pools {
            Pools::Postgres(connections) => {
                let share = connections.can_be_taken() / threads;
                OfThread::Postgres(Lanes::new(connections, share))
            }
            Pools::Sqlite(pools) => OfThread::Sqlite(SqliteLane::new(pools)),
        };
        Self {
            shared: Arc::clone(&self.shared),
            of_thread: Some(Arc::new(of_thread)),
        }
    }

    /// Whether the database answers, for `/readyz`.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<(), PersistenceError> {
        let database = self.clone();
        self.run(async move {
            let mut connection = database.reader().await?;
            let one = diesel::dsl::sql::<diesel::sql_types::Integer>("1");
            let _: i32 = on!(connection, get_result(diesel::select(one)))?;
            Ok(())
        })
        .await
    }

    /// Runs a query as a task of the database's own runtime.
    ///
    /// A caller that is dropped does not stop it: a query of SQLite cannot be left half-way, and a
    /// transaction that is left costs its connection. Nor does the query weigh on its caller's
    /// future, which may wait for long in a place of its own.
    pub(crate) fn run<T, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, PersistenceError>> + use<T, W>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, PersistenceError>> + Send + 'static,
    {
        let running = run_on(&self.shared.runtime, work);
        async {
            let shutting_down = "refract is shutting down";
            let ended = running.await;
            ended.unwrap_or_else(|| Err(PersistenceError::Unavailable(shutting_down.to_owned())))
        }
    }

    /// Where results gather that are saved at the same time: those of this thread, where it has
    /// lanes, and all those of an SQLite file. Elsewhere they do not.
    pub(crate) fn gathering(&self) -> Option<&Arc<Gathering>> {
        match &self.shared.pools {
            Pools::Postgres(_) => self.lanes().map(|lanes| &lanes.gathering),
            Pools::Sqlite(pools) => Some(&pools.gathering),
        }
    }

    /// Starts a task where its queries should run: for lanes, which only their own thread may use,
    /// on its runtime.
    pub(crate) fn spawn_here(&self, work: impl Future<Output = ()> + Send + 'static) {
        match self.lanes() {
            Some(_) => tokio::spawn(work),
            None => self.shared.runtime.spawn(work),
        };
    }

    /// Lets no more groups onto a connection of this thread, which has stopped answering.
    pub(crate) fn abandon_writing(&self, connection: &Arc<Open>) {
        if let Some(lanes) = self.lanes() {
            lanes.abandon_writing(connection);
        }
    }

    fn lanes(&self) -> Option<&Lanes> {
        match self.of_thread.as_deref() {
            Some(OfThread::Postgres(lanes)) => Some(lanes),
            _ => None,
        }
    }

    /// Runs a query that only reads, over [a connection of the thread](Database::reader_of_thread)
    /// where there is one: an answer is waited for so long only, since others wait behind it.
    ///
    /// It runs in its caller's own task where that is safe: being dropped between two statements
    /// leaves nothing half done. Boxed at once, so that it does not weigh on its caller's future.
    pub(crate) fn run_reading<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, PersistenceError>> + Send + 'static,
    ) -> impl Future<Output = Result<T, PersistenceError>> {
        let work: BoxFuture<'_, _> = match &self.shared.pools {
            Pools::Sqlite(_) if self.of_thread.is_none() => Box::pin(self.run(work)),
            Pools::Sqlite(_) | Pools::Postgres(_) => Box::pin(work),
        };
        async {
            let Some(lanes) = self.lanes() else {
                return work.await;
            };
            let answered = tokio::time::timeout(WAIT, work).await;
            answered.unwrap_or_else(|_| {
                lanes.abandon_reading();
                Err(PersistenceError::no_answer())
            })
        }
    }

    /// A connection for a query that only reads.
    pub(crate) async fn reader(&self) -> Result<Connection, PersistenceError> {
        Ok(match &self.shared.pools {
            Pools::Postgres(connections) => Connection::Postgres(connections.leased.get().await?),
            Pools::Sqlite(pools) => Connection::Sqlite(pools.readers.get().await?),
        })
    }

    /// The same for a query that may share its connection with others of this thread.
    pub(crate) async fn reader_of_thread(&self) -> Result<Connection, PersistenceError> {
        let lane = match self.of_thread.as_deref() {
            Some(OfThread::Postgres(lanes)) => lanes.reader().await?.map(Connection::Pipelined),
            Some(OfThread::Sqlite(lane)) => Some(Connection::SqliteOfThread(lane.reader().await?)),
            None => None,
        };
        match lane {
            Some(connection) => Ok(connection),
            None => self.reader().await,
        }
    }

    /// A connection for one statement that writes, which may share it with others of this thread.
    pub(crate) async fn writer_of_thread(&self) -> Result<Connection, PersistenceError> {
        if let Some(lanes) = self.lanes()
            && let Some(connection) = lanes.writer().await?
        {
            return Ok(Connection::Pipelined(connection));
        }
        Ok(self.writer().await?.into())
    }

    /// A connection for a query that writes, alone.
    pub(crate) async fn writer(&self) -> Result<Exclusive, PersistenceError> {
        Ok(match &self.shared.pools {
            Pools::Postgres(connections) => Exclusive::Postgres(connections.leased.get().await?),
            Pools::Sqlite(pools) => Exclusive::Sqlite(pools.writer.get().await?),
        })
    }

    pub(crate) fn pools(&self) -> &Pools {
        &self.shared.pools
    }

    pub(crate) fn versions(&self) -> &Immutable<(PrismId, VersionNumber), PrismVersion> {
        &self.shared.versions
    }

    pub(crate) fn lenses(&self) -> &Immutable<(PrismId, i32), Lens> {
        &self.shared.lenses
    }
}

impl Pools {
    async fn open(address: Address, size: usize) -> Result<Self, ConnectError> {
        match address {
            Address::Sqlite(path) => {
                let opening = tokio::task::spawn_blocking(|| SqlitePools::open(path)).await;
                opening
                    .unwrap_or(Err(ConnectError::ShuttingDown))
                    .map(Self::Sqlite)
            }
            Address::Postgres(address) => {
                let server = Server::new(*address)?;
                server.reach().await?;
                let connections = Connections::new(server, size, Handle::current())?;
                Ok(Self::Postgres(Arc::new(connections)))
            }
        }
    }
}

/// Runs work on a runtime; what it returns waits for it, and is `None` when the runtime shuts down.
/// A panic goes on where it is waited for.
fn run_on<T, W>(runtime: &Handle, work: W) -> impl Future<Output = Option<T>> + use<T, W>
where
    T: Send + 'static,
    W: Future<Output = T> + Send + 'static,
{
    let task = runtime.spawn(work);
    async {
        match task.await {
            Ok(done) => Some(done),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => None,
        }
    }
}
