//! The connections to a PostgreSQL server that one process shares.
//!
//! A leased connection is opened on the main runtime, never on a single-threaded one that awaits
//! queries: while its thread is busy, such a runtime does not drive its sockets. The lanes of such
//! a thread are the exception, since no other thread uses them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use deadpool::managed::{
    Manager, Metrics, Object, Pool, QueueMode, RecycleError, RecycleResult, TimeoutType,
};
use deadpool::{Runtime, Status};
use diesel::ConnectionError::BadConnection;
use diesel::ConnectionResult;
use diesel_async::pooled_connection::deadpool::PoolError;
use diesel_async::{AsyncPgConnection, pooled_connection};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::connections::database_url::DatabaseUrl;
use crate::connections::postgres::address::PostgresAddress;
use crate::connections::postgres::connection::{LaneConnection, PostgresConnection};
use crate::connections::postgres::server::PostgresServer;
use crate::error::{ConnectError, PersistenceError, WAIT};

/// The shortest time between two times at which all connections are given up.
const BETWEEN_RENEWALS: Duration = Duration::from_secs(1);

/// Pause before a lease looks again for a connection while the server grants no further one.
const PAUSE: Duration = Duration::from_millis(5);

/// All connections that one process may hold to a server.
pub(crate) struct PostgresPool {
    pub(super) server: Arc<PostgresServer>,
    /// Connections that are leased to one query at a time.
    leased: Pool<LeaseManager>,
    size: usize,
    /// Number of connections that lanes have reserved.
    taken: Mutex<usize>,
    /// How often all connections were given up, and when last.
    renewals: AtomicU64,
    renewed: Mutex<Option<Instant>>,
    /// Those of the lanes of all threads.
    lanes: Mutex<Vec<Weak<LaneConnection>>>,
    /// Held by the lease that is next while the server grants no further connection.
    turn: tokio::sync::Mutex<()>,
}

impl PostgresPool {
    /// A pool of up to `size` connections to a server that can be reached. The current runtime drives
    /// the leased ones, whichever thread leases them.
    pub(crate) async fn open(
        address: PostgresAddress,
        url: DatabaseUrl,
        size: usize,
    ) -> Result<Self, ConnectError> {
        let server = PostgresServer::new(address, url)?;
        server.reach().await?;
        Self::new(server, size, Handle::current())
    }

    /// Its connections are opened at first use.
    fn new(server: PostgresServer, size: usize, runtime: Handle) -> Result<Self, ConnectError> {
        let server = Arc::new(server);
        Ok(Self {
            leased: pool(&server, size, runtime)?,
            server,
            size,
            taken: Mutex::new(0),
            renewals: AtomicU64::new(0),
            renewed: Mutex::new(None),
            lanes: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        })
    }

    /// Opens a connection beside those of the pool.
    pub(crate) async fn connect(&self) -> ConnectionResult<AsyncPgConnection> {
        Ok(self.server.connect().await?.statements)
    }

    /// Leases a connection.
    pub(crate) async fn lease(&self) -> Result<PostgresLease, PersistenceError> {
        if !self.server.is_full() {
            match self.leased.get().await {
                Err(PoolError::Backend(_)) if self.server.is_full() => {}
                leased => return Ok(leased?),
            }
        }
        let leasing = timeout(WAIT, Box::pin(self.lease_in_turn())).await;
        leasing.unwrap_or_else(|_| Err(PoolError::Timeout(TimeoutType::Wait).into()))
    }

    /// Leases a connection of a server that grants fewer than the pool may hold: one that is given
    /// back, or one in place of a lane.
    async fn lease_in_turn(&self) -> Result<PostgresLease, PersistenceError> {
        let _turn = self.turn.lock().await;
        let mut has_closed = false;
        loop {
            match self.leased.get().await {
                Err(PoolError::Backend(_)) if self.server.is_full() => {}
                leased => return Ok(leased?),
            }
            if !has_closed {
                has_closed = true;
                self.close_a_lane();
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether a lease waits for a connection that the server does not grant: lanes leave it the next.
    pub(super) fn is_waited_for(&self) -> bool {
        self.turn.try_lock().is_err()
    }

    /// Closes the connection of a lane, preferably of an idle one, so that a lease can have its place.
    fn close_a_lane(&self) {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let lanes: Vec<_> = lanes.iter().filter_map(Weak::upgrade).collect();
        let mut open = lanes.iter().filter(|lane| lane.open().is_some());
        let idle = open.clone().find(|lane| !lane.is_in_use());
        if let Some(lane) = idle.or_else(|| open.next()) {
            lane.put(None);
        }
    }

    /// Adds the lanes of a thread to those that may be closed.
    pub(super) fn add_lanes<'a>(&self, new: impl Iterator<Item = &'a Arc<LaneConnection>>) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.retain(|lane| lane.strong_count() > 0);
        lanes.extend(new.map(Arc::downgrade));
    }

    /// Gives up all connections that are idle now and all lanes, once a second at most: one that was
    /// opened while its server was read-only may stay so when the address leads to another server.
    pub(crate) fn renew(&self) {
        let mut renewed = self.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        if renewed.is_some_and(|last| last.elapsed() < BETWEEN_RENEWALS) {
            return;
        }
        *renewed = Some(Instant::now());
        self.renewals.fetch_add(1, Ordering::Relaxed);
        let given_up = self.leased.retain(|_, _| false).removed.len();
        tracing::warn!(
            given_up,
            "the database is read-only: its connections are opened anew"
        );
    }

    /// How often all connections were given up.
    pub(crate) fn renewals(&self) -> u64 {
        self.renewals.load(Ordering::Relaxed)
    }

    /// The number of connections that can be leased, and of those that are.
    pub(crate) fn status(&self) -> Status {
        self.leased.status()
    }

    /// See [`PostgresServer::check_prepared_statements`].
    pub(crate) async fn check_prepared_statements(&self) -> Result<(), ConnectError> {
        self.server.check_prepared_statements().await
    }

    /// How many connections lanes may reserve: half of all.
    pub(crate) fn can_be_taken(&self) -> usize {
        self.size / 2
    }

    /// How many connections lanes have reserved.
    pub(crate) fn taken(&self) -> usize {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a connection for a lane; `false` when half of all are reserved already.
    pub(crate) fn take(&self) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_left = *taken < self.can_be_taken();
        if is_left {
            *taken += 1;
            self.leased.resize(self.size - *taken);
        }
        is_left
    }

    /// Returns a reserved connection to those that can be leased.
    pub(crate) fn give_back(&self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_sub(1);
        self.leased.resize(self.size - *taken);
    }
}

/// A connection that is leased until it is dropped.
pub(crate) type PostgresLease = Object<LeaseManager>;

/// Opens the connections that are leased, on the runtime that drives them.
pub(crate) struct LeaseManager {
    server: Arc<PostgresServer>,
    runtime: Handle,
}

impl Manager for LeaseManager {
    type Type = PostgresConnection;
    type Error = pooled_connection::PoolError;

    async fn create(&self) -> Result<PostgresConnection, Self::Error> {
        let server = Arc::clone(&self.server);
        let opening = self.runtime.spawn(async move { server.connect().await });
        let opened = opening
            .await
            .unwrap_or_else(|ended| Err(BadConnection(ended.to_string())));
        opened.map_err(pooled_connection::PoolError::ConnectionError)
    }

    /// Notices a closed connection without a query.
    async fn recycle(
        &self,
        connection: &mut PostgresConnection,
        _: &Metrics,
    ) -> RecycleResult<Self::Error> {
        if connection.is_broken() {
            return Err(RecycleError::message("it is broken"));
        }
        Ok(())
    }
}

fn pool(
    server: &Arc<PostgresServer>,
    size: usize,
    runtime: Handle,
) -> Result<Pool<LeaseManager>, ConnectError> {
    let manager = LeaseManager {
        server: Arc::clone(server),
        runtime,
    };
    Pool::builder(manager)
        .max_size(size)
        // a connection that was just used has its statements prepared
        .queue_mode(QueueMode::Lifo)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(WAIT))
        .create_timeout(Some(WAIT))
        .build()
        .map_err(|error| ConnectError::Address(error.to_string()))
}
