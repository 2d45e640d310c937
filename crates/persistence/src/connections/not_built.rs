//! Stands for PostgreSQL in a build that leaves it out. Its types have no value, since its addresses
//! are refused, so that all the rest is written once for both builds.

use std::sync::Arc;

use deadpool::Status;

use crate::connections::database_url::DatabaseUrl;
use crate::error::{ConnectError, PersistenceError};

/// What there is none of: an address, a pool or a connection.
pub(crate) enum Absent {}

pub(crate) use self::{
    Absent as PostgresAddress, Absent as PostgresConnection, Absent as PostgresLanes,
    Absent as PostgresPool, AbsentLease as PostgresLease, AbsentText as StatementText,
    AnyChange as ChangeOnPostgres, AnyRows as RowsOnPostgres,
};

pub(crate) type AbsentLease = Box<Absent>;

/// What PostgreSQL asks of a query of rows: nothing.
pub(crate) trait AnyRows<T> {}

impl<T, Q> AnyRows<T> for Q {}

/// What PostgreSQL asks of a statement without rows: nothing.
pub(crate) trait AnyChange {}

impl<Q> AnyChange for Q {}

/// The text of no statement.
pub(crate) struct AbsentText;

/// The plan of no statement.
pub(crate) const CUSTOM_PLAN: AbsentText = AbsentText;

impl AbsentText {
    pub(crate) const fn new() -> Self {
        Self
    }
}

impl Absent {
    /// The code that no value reaches.
    pub(crate) fn never(&self) -> ! {
        match *self {}
    }

    pub(crate) fn parse(_url: &str) -> Result<Self, ConnectError> {
        Err(ConnectError::NotBuilt)
    }

    pub(crate) async fn open(
        address: Self,
        _url: DatabaseUrl,
        _size: usize,
    ) -> Result<Self, ConnectError> {
        address.never()
    }

    pub(crate) fn new(pool: &Arc<Self>, _lanes: usize) -> Self {
        pool.never()
    }

    pub(crate) fn can_be_taken(&self) -> usize {
        self.never()
    }

    pub(crate) fn taken(&self) -> usize {
        self.never()
    }

    pub(crate) fn status(&self) -> Status {
        self.never()
    }

    pub(crate) async fn lease(&self) -> Result<Box<Self>, PersistenceError> {
        self.never()
    }

    pub(crate) async fn check_prepared_statements(&self) -> Result<(), ConnectError> {
        self.never()
    }

    pub(crate) fn groups_at_once(&self) -> usize {
        self.never()
    }

    pub(crate) async fn reader(&self) -> Result<Option<Arc<Self>>, PersistenceError> {
        self.never()
    }

    pub(crate) async fn writer(&self) -> Result<Option<Arc<Self>>, PersistenceError> {
        self.never()
    }

    pub(crate) fn abandon_reader(&self) {
        self.never()
    }

    pub(crate) fn abandon_writer(&self, _connection: &Arc<Self>) {
        self.never()
    }
}
