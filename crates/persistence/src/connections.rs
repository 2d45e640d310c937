//! Opens, pools, leases and shares the connections to either database. Knows no table.
//!
//! A query gets its connection from [`Connections::read`] or [`Connections::write`], a transaction
//! from [`Connections::begin`]. Each query runs as a task of the main runtime on a leased
//! connection, so that a cancelled caller does not interrupt it. The exception is a thread that
//! serves many calls: its reads run in the caller's task over a lane, a connection that belongs to
//! that thread.

pub(crate) mod address;
mod connection;
mod database_url;
mod erased;
mod group_commit;
#[cfg(not(feature = "postgres"))]
mod not_built;
mod pools;
#[cfg(feature = "postgres")]
mod postgres;
pub(crate) mod sqlite;
mod transaction;

use std::future::Future;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::Arc;

use diesel::QueryResult;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub(crate) use self::connection::{
    Change, Connection, ConnectionRef, ExclusiveConnection, RowsQuery, find_as, load_as, on,
    on_postgres,
};
pub use self::database_url::DatabaseUrl;
pub(crate) use self::erased::BoxFuture;
use self::erased::{TaskOutcome, Work, any_work};
use self::group_commit::GroupLeader;
pub(crate) use self::group_commit::{GroupCommit, GroupRow, RowFate};
#[cfg(not(feature = "postgres"))]
use self::not_built as postgres;
pub use self::pools::ConnectionUse;
pub(crate) use self::pools::Pools;
use self::postgres::PostgresLanes;
pub(crate) use self::postgres::{CUSTOM_PLAN, StatementText};
#[cfg(feature = "postgres")]
pub(crate) use self::postgres::{
    ChangeOnPostgres, PostgresConnection, PostgresLease, PostgresPool, RowsOnPostgres,
};
use self::sqlite::SqliteLane;
pub(crate) use self::sqlite::{ChangeOnSqlite, MissingFile, RowsOnSqlite, on_sqlite};
pub(crate) use self::transaction::{Transaction, for_no_key_update, for_update};
use crate::error::{ConnectError, PersistenceError, WAIT};

/// The connections of one process to its database. Clones share them.
#[derive(Clone)]
pub(crate) struct Connections {
    runtime: Handle,
    pools: Arc<Pools>,
    lanes: Option<Arc<Lanes>>,
}

/// The connections that belong to one thread.
enum Lanes {
    Postgres(PostgresLanes),
    Sqlite(SqliteLane),
}

impl Connections {
    /// Opens the pools of a database; `runtime` drives them and runs their queries.
    pub(crate) async fn open(
        url: &DatabaseUrl,
        size: usize,
        missing: MissingFile,
        runtime: Handle,
    ) -> Result<Self, ConnectError> {
        let opening = spawn_on(&runtime, Pools::open(url.clone(), size, missing));
        let pools = outcome_of(opening)
            .await
            .unwrap_or(Err(ConnectError::ShuttingDown))?;
        Ok(Self {
            runtime,
            pools: Arc::new(pools),
            lanes: None,
        })
    }

    /// Returns these connections with lanes for the calling thread, which is one of `threads` and
    /// has its own runtime. For PostgreSQL the thread gets its share of half the pool, for SQLite
    /// one read connection. Lanes are opened at first use; the value must not leave its thread.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(unreachable_code, reason = "there are no lanes of PostgreSQL")
    )]
    pub(crate) fn for_this_thread(&self, threads: NonZeroUsize) -> Self {
        let lanes = match &*self.pools {
            Pools::Postgres(pool) => {
                let share = pool.can_be_taken() / threads;
                Lanes::Postgres(PostgresLanes::new(pool, share))
            }
            Pools::Sqlite(pools) => Lanes::Sqlite(SqliteLane::new(pools)),
        };
        Self {
            lanes: Some(Arc::new(lanes)),
            ..self.clone()
        }
    }

    /// These connections without the thread's lanes.
    pub(crate) fn without_lanes(&self) -> Self {
        Self {
            lanes: None,
            ..self.clone()
        }
    }

    pub(crate) fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Runs a read-only query: over the thread's lane if it has one, else on a leased connection.
    ///
    /// On a lane the query runs in the caller's task, since a read that is dropped between two
    /// statements leaves nothing half done. A PostgreSQL lane that misses the deadline is
    /// abandoned, because the statements of other calls queue behind this one.
    pub(crate) fn read<T, Q, F>(&self, query: Q) -> BoxFuture<'_, Result<T, PersistenceError>>
    where
        T: Send + 'static,
        Q: FnOnce(Connection) -> F + Send + 'static,
        F: Future<Output = Result<T, PersistenceError>> + Send + 'static,
    {
        self.read_with(any_work(query))
    }

    fn read_with<T: Send + 'static>(
        &self,
        work: Work<Connection, T>,
    ) -> BoxFuture<'_, Result<T, PersistenceError>> {
        let connections = self.clone();
        let reading = Box::pin(async move { work(connections.reader().await?).await });
        if self.lanes.is_none() {
            return self.run(reading);
        }
        self.answered_in_time(reading)
    }

    /// A read over a lane of this thread, with its deadline.
    fn answered_in_time<'a, T: Send + 'a>(
        &'a self,
        reading: BoxFuture<'a, Result<T, PersistenceError>>,
    ) -> BoxFuture<'a, Result<T, PersistenceError>> {
        let Some(lanes) = self.postgres_lanes() else {
            return reading;
        };
        Box::pin(async {
            let answered = timeout(WAIT, reading).await;
            answered.unwrap_or_else(|_| {
                lanes.abandon_reader();
                Err(PersistenceError::no_answer())
            })
        })
    }

    /// Runs a query that writes, on an exclusive connection.
    pub(crate) fn write<T, Q, F>(&self, query: Q) -> BoxFuture<'static, Result<T, PersistenceError>>
    where
        T: Send + 'static,
        Q: FnOnce(ExclusiveConnection) -> F + Send + 'static,
        F: Future<Output = Result<T, PersistenceError>> + Send + 'static,
    {
        self.write_with(any_work(query))
    }

    fn write_with<T: Send + 'static>(
        &self,
        work: Work<ExclusiveConnection, T>,
    ) -> BoxFuture<'static, Result<T, PersistenceError>> {
        let pools = Arc::clone(&self.pools);
        self.run(Box::pin(async move {
            let written = work(pools.writer().await?).await;
            pools.renew_after(&written);
            written
        }))
    }

    /// Runs a body that writes in a transaction, which it commits: see [`Transaction`].
    pub(crate) fn begin<T, B, F>(&self, body: B) -> BoxFuture<'static, Result<T, PersistenceError>>
    where
        T: Send + 'static,
        B: FnOnce(Transaction) -> F + Send + 'static,
        F: Future<Output = Result<T, PersistenceError>> + Send + 'static,
    {
        self.begin_with(any_work(body))
    }

    fn begin_with<T: Send + 'static>(
        &self,
        work: Work<Transaction, T>,
    ) -> BoxFuture<'static, Result<T, PersistenceError>> {
        self.write(async move |connection| work(Transaction::begin(connection).await?).await)
    }

    /// Inserts a row by group commit, together with rows that are inserted at the same time. `None`
    /// when the group failed, perhaps because of another row: insert this row alone then.
    pub(crate) async fn write_in_group<R, I, F>(
        &self,
        commit: &Arc<GroupCommit<R>>,
        row: R,
        insert: I,
    ) -> Option<RowFate>
    where
        R: GroupRow,
        I: Fn(Vec<R>, Connection) -> F + Send + Sync + 'static,
        F: Future<Output = QueryResult<Vec<bool>>> + Send + 'static,
    {
        let (fate, leader) = commit.join(row);
        if let Some(leader) = leader {
            let sending = self.clone().send_groups(leader, insert);
            // a task, since the caller may be cancelled while other rows wait for this turn; lanes
            // may only be used on the runtime of their thread
            match self.postgres_lanes() {
                Some(_) => tokio::spawn(sending),
                None => self.runtime.spawn(sending),
            };
        }
        fate.await.ok()
    }

    /// How many groups of rows this thread may have in flight at once; `None` where its rows are
    /// not grouped.
    pub(crate) fn groups_at_once(&self) -> Option<usize> {
        match &*self.pools {
            Pools::Postgres(_) => self.postgres_lanes().map(PostgresLanes::groups_at_once),
            Pools::Sqlite(_) => Some(1),
        }
    }

    /// Runs work as a task of the main runtime, so that a cancelled caller does not stop it: an
    /// SQLite statement cannot be interrupted half-way, and an abandoned transaction would cost its
    /// connection.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: BoxFuture<'static, Result<T, PersistenceError>>,
    ) -> BoxFuture<'static, Result<T, PersistenceError>> {
        Box::pin(self.start(work).end())
    }

    /// Starts work as [`run`](Self::run) does.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        work: BoxFuture<'static, Result<T, PersistenceError>>,
    ) -> StartedWork<T> {
        StartedWork(spawn_on(&self.runtime, work), PhantomData)
    }

    async fn reader(&self) -> Result<Connection, PersistenceError> {
        match self.lanes.as_deref() {
            Some(Lanes::Postgres(lanes)) => {
                if let Some(lane) = lanes.reader().await? {
                    return Ok(Connection::PostgresLane(lane));
                }
            }
            Some(Lanes::Sqlite(lane)) => return Ok(Connection::SqliteLane(lane.reader().await?)),
            None => {}
        }
        self.pools.reader().await
    }

    async fn send_groups<R, I, F>(self, mut leader: GroupLeader<R>, insert: I)
    where
        R: GroupRow,
        I: Fn(Vec<R>, Connection) -> F,
        F: Future<Output = QueryResult<Vec<bool>>>,
    {
        while let Some(mut group) = leader.next_group() {
            let rows = group.take_rows();
            let inserted = self.insert_group(rows, &insert).await;
            self.pools.renew_after(&inserted);
            group.tell(inserted);
        }
    }

    /// Inserts a group over an idle lane of the thread, or on a leased connection if no lane is
    /// idle. A lane that does not answer is abandoned.
    async fn insert_group<R, F>(
        &self,
        rows: Vec<R>,
        insert: impl Fn(Vec<R>, Connection) -> F,
    ) -> Result<Vec<bool>, PersistenceError>
    where
        F: Future<Output = QueryResult<Vec<bool>>>,
    {
        if let Some(lanes) = self.postgres_lanes()
            && let Some(lane) = lanes.writer().await?
        {
            let inserting = insert(rows, Connection::PostgresLane(Arc::clone(&lane)));
            let Ok(inserted) = timeout(WAIT, inserting).await else {
                lanes.abandon_writer(&lane);
                return Err(PersistenceError::no_answer());
            };
            return Ok(inserted?);
        }
        let connection = self.pools.writer().await?;
        Ok(insert(rows, connection.into()).await?)
    }

    fn postgres_lanes(&self) -> Option<&PostgresLanes> {
        match self.lanes.as_deref() {
            Some(Lanes::Postgres(lanes)) => Some(lanes),
            Some(Lanes::Sqlite(_)) | None => None,
        }
    }
}

/// Work that goes on whether anybody waits for its end or not.
pub(crate) struct StartedWork<T>(JoinHandle<TaskOutcome>, PhantomData<fn() -> T>);

impl<T: 'static> StartedWork<T> {
    /// Waits for the end.
    pub(crate) async fn end(self) -> Result<T, PersistenceError> {
        let shutting_down = "refract is shutting down";
        let ended = outcome_of(self.0).await;
        ended.unwrap_or_else(|| Err(PersistenceError::Unavailable(shutting_down.to_owned())))
    }
}

/// Runs work as a task of a runtime. The runtime gets one task type for all work: code compiled for
/// each query would be an eighth of the binary.
fn spawn_on<T: Send + 'static>(
    runtime: &Handle,
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<TaskOutcome> {
    let work: BoxFuture<'static, TaskOutcome> = Box::pin(async {
        let outcome: TaskOutcome = Box::new(work.await);
        outcome
    });
    runtime.spawn(work)
}

/// Waits for the end of a task; `None` when its runtime shuts down. A panic in it continues in the
/// caller.
async fn outcome_of<T: 'static>(task: JoinHandle<TaskOutcome>) -> Option<T> {
    match task.await {
        Ok(outcome) => outcome.downcast().ok().map(|outcome| *outcome),
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => None,
    }
}
