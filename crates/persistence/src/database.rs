//! The way to the database: opened once, cloned wherever queries are made.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use diesel_async::RunQueryDsl as _;
use refract_domain::ids::PrismId;
use refract_domain::lens::Lens;
use refract_domain::prism::{Definition, VersionNumber};
use tokio::runtime::Handle;

use crate::address::Address;
use crate::cache::Immutable;
use crate::connection::{Reader, Writer};
use crate::error::{ConnectError, PersistenceError, unavailable};
use crate::pipeline::{self, Pipeline};
use crate::postgres::{Connections, Server};
use crate::sqlite::SqlitePools;

/// How long a query waits for a connection before it fails.
pub(crate) const WAIT: Duration = Duration::from_secs(10);

/// Where the database is and how much of it one process takes.
#[derive(Clone)]
pub struct DatabaseSettings {
    /// `sqlite://PATH` or `postgres://…` (contract, `DATABASE_URL`). It may hold a password.
    pub url: String,
    /// Connections to a PostgreSQL server, at least 1 (contract, `REFRACT_DATABASE_POOL`). SQLite
    /// has one that writes and a few that read, whatever stands here.
    pub pool: usize,
}

/// An open database. Clones are cheap and share connections and caches.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
    pipeline: Option<Arc<Pipeline>>,
}

struct Shared {
    runtime: Handle,
    pools: Pools,
    definitions: Immutable<(PrismId, VersionNumber), Definition>,
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
    /// outlive this value.
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
            definitions: Immutable::new(),
            lenses: Immutable::new(),
        });
        Ok(Self {
            shared,
            pipeline: None,
        })
    }

    /// The same database for one thread that serves many calls with a runtime of its own: what
    /// their checks need is read over one connection that they share.
    ///
    /// It is one of the pool's, from the first call on. A pool gives away at most half of its
    /// connections; after that calls lease theirs as usual. The value must not be used from
    /// another thread.
    #[must_use]
    pub fn for_this_thread(&self) -> Self {
        let pipeline = match &self.shared.pools {
            Pools::Postgres(connections) => Some(Arc::new(Pipeline::new(connections))),
            Pools::Sqlite(_) => None,
        };
        Self {
            shared: Arc::clone(&self.shared),
            pipeline,
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
            let _: i32 = on!(connection, |c| diesel::select(one).get_result(c).await)?;
            Ok(())
        })
        .await
    }

    /// Runs a query as a task of the database's own runtime.
    ///
    /// A caller that is dropped does not stop it: a query of SQLite cannot be left half-way, and a
    /// transaction that is left costs its connection. Nor does the query weigh on its caller's
    /// future, which may wait for long in a place of its own.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, PersistenceError>> + Send + 'static,
    ) -> impl Future<Output = Result<T, PersistenceError>> {
        let running = run_on(&self.shared.runtime, work);
        async {
            let shutting_down = "refract is shutting down";
            let ended = running.await;
            ended.unwrap_or_else(|| Err(PersistenceError::Unavailable(shutting_down.to_owned())))
        }
    }

    /// Runs a query in its caller's own task where that is safe: one that a server carries out
    /// statement by statement, so that being dropped between two of them leaves nothing half done.
    pub(crate) async fn run_here<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, PersistenceError>> + Send + 'static,
    ) -> Result<T, PersistenceError> {
        match &self.shared.pools {
            // boxed, since the caller may wait for long in a place of its own
            Pools::Postgres(_) => Box::pin(work).await,
            Pools::Sqlite(_) => self.run(work).await,
        }
    }

    /// Runs a query that only reads, over the thread's pipeline when there is one.
    pub(crate) async fn run_pipelined<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, PersistenceError>> + Send + 'static,
    ) -> Result<T, PersistenceError> {
        let Some(pipeline) = &self.pipeline else {
            return self.run_here(work).await;
        };
        let answered = tokio::time::timeout(pipeline::ANSWER, Box::pin(work)).await;
        answered.unwrap_or_else(|_| {
            pipeline.abandon();
            Err(PersistenceError::Unavailable(
                "it does not answer".to_owned(),
            ))
        })
    }

    /// A connection for a query that only reads.
    pub(crate) async fn reader(&self) -> Result<Reader, PersistenceError> {
        Ok(match &self.shared.pools {
            Pools::Postgres(connections) => Reader::Postgres(connections.leased.get().await?),
            Pools::Sqlite(pools) => Reader::Sqlite(pools.readers.get().await?),
        })
    }

    /// The same for one that is run [pipelined](Database::run_pipelined).
    pub(crate) async fn pipelined_reader(&self) -> Result<Reader, PersistenceError> {
        if let Some(pipeline) = &self.pipeline
            && let Some(connection) = pipeline.connection().await?
        {
            return Ok(Reader::Pipelined(connection));
        }
        self.reader().await
    }

    /// A connection for a query that writes.
    pub(crate) async fn writer(&self) -> Result<Writer, PersistenceError> {
        Ok(match &self.shared.pools {
            Pools::Postgres(connections) => Writer::Postgres(connections.leased.get().await?),
            Pools::Sqlite(pools) => Writer::Sqlite(pools.writer.get().await?),
        })
    }

    pub(crate) fn pools(&self) -> &Pools {
        &self.shared.pools
    }

    pub(crate) fn definitions(&self) -> &Immutable<(PrismId, VersionNumber), Definition> {
        &self.shared.definitions
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
                let connections = Connections::new(server, size, Handle::current())?;
                if let Err(error) = connections.leased.get().await {
                    let reason = unavailable(&error);
                    return Err(ConnectError::Unreachable {
                        server: connections.server.name(),
                        reason,
                    });
                }
                Ok(Self::Postgres(Arc::new(connections)))
            }
        }
    }
}

/// Runs work on a runtime; what it returns waits for it, and is `None` when the runtime shuts down.
/// A panic goes on where it is waited for.
fn run_on<T: Send + 'static>(
    runtime: &Handle,
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Option<T>> {
    let task = runtime.spawn(work);
    async {
        match task.await {
            Ok(done) => Some(done),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => None,
        }
    }
}
