//! What can go wrong with a database, in words for its operator.
//!
//! No error holds a bound value, a text or a password: of what a server says only its message is
//! kept, never the detail, which quotes rows.

use std::path::PathBuf;

use deadpool::managed::{self, TimeoutType};
use diesel::result::{DatabaseErrorKind, Error};
use diesel_async::pooled_connection::deadpool::PoolError;

/// What is said of a database that takes too long.
pub(crate) const NO_ANSWER: &str = "it does not answer";

/// A query was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum PersistenceError {
    /// There was no connection to be had: the database is away, or all stayed busy for too long.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// The database broke off or refused for a reason of its own: a restart, a full disk.
    #[error("the database failed: {0}")]
    Failed(String),
    /// The statement breaks a rule of the schema. A bug.
    #[error("the database refused a statement: {0}")]
    Refused(String),
    /// A row does not hold what this version of Refract reads.
    #[error("cannot read {column} of a saved row")]
    Unreadable {
        /// Table and column.
        column: &'static str,
    },
}

impl PersistenceError {
    /// The database takes too long: nothing is known of what it was asked to do.
    pub fn no_answer() -> Self {
        Self::Unavailable(NO_ANSWER.to_owned())
    }

    /// Whether the same call may well succeed in a while.
    ///
    /// Saving again is safe: [`Database::save_result`](crate::Database::save_result) knows its own.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::Failed(_) => true,
            Self::Refused(_) | Self::Unreadable { .. } => false,
        }
    }
}

impl From<Error> for PersistenceError {
    fn from(error: Error) -> Self {
        if let Error::DatabaseError(kind, what) = error {
            let message = what.message().to_owned();
            return if breaks_a_rule(kind) {
                Self::Refused(message)
            } else {
                Self::Failed(message)
            };
        }
        // the words of these two quote what could not be read or written
        if let Error::DeserializationError(_) = error {
            return Self::Unreadable { column: "a column" };
        }
        if let Error::SerializationError(_) = error {
            return Self::Refused("a value has no form in SQL".to_owned());
        }
        Self::Failed(error.to_string())
    }
}

fn breaks_a_rule(kind: DatabaseErrorKind) -> bool {
    matches!(
        kind,
        DatabaseErrorKind::UniqueViolation
            | DatabaseErrorKind::ForeignKeyViolation
            | DatabaseErrorKind::NotNullViolation
            | DatabaseErrorKind::CheckViolation
    )
}

impl From<PoolError> for PersistenceError {
    fn from(error: PoolError) -> Self {
        Self::Unavailable(unavailable(&error))
    }
}

/// Why there was no connection to be had.
fn unavailable(error: &PoolError) -> String {
    match error {
        managed::PoolError::Timeout(TimeoutType::Wait) => "all connections are busy".to_owned(),
        managed::PoolError::Timeout(_) => NO_ANSWER.to_owned(),
        managed::PoolError::Closed => "it is closed".to_owned(),
        managed::PoolError::Backend(error) => error.to_string(),
        managed::PoolError::NoRuntimeSpecified | managed::PoolError::PostCreateHook(_) => {
            error.to_string()
        }
    }
}

/// There is no database to work with.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address names no kind of database that there is.
    #[error("the database address must begin with sqlite:// or postgres://")]
    UnknownScheme,
    /// The address cannot be read; it is not repeated, since it may hold a password.
    #[error("the database address cannot be read: {0}")]
    Address(String),
    /// The pool would be empty.
    #[error("the database pool needs at least one connection")]
    EmptyPool,
    /// The file cannot be opened or made.
    #[error("cannot open the database file {path}: {reason}")]
    File {
        /// Where it should be.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The certificates to trust cannot be read.
    #[error("cannot read the certificates to trust: {0}")]
    Certificates(String),
    /// The process is about to end.
    #[error("refract is shutting down")]
    ShuttingDown,
    /// No server, or one that refuses us.
    #[error("cannot connect to PostgreSQL at {server}: {reason}")]
    Unreachable {
        /// Hosts and ports.
        server: String,
        /// Why not.
        reason: String,
        /// Whether it may well be there in a moment.
        is_starting: bool,
    },
}

impl ConnectError {
    /// Whether the database may well be there in a moment: nobody listens yet, it recovers, or
    /// none of its hosts takes writes so far. A wrong name or password is not mended by waiting.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { is_starting, .. } => *is_starting,
            Self::UnknownScheme
            | Self::Address(_)
            | Self::EmptyPool
            | Self::File { .. }
            | Self::Certificates(_)
            | Self::ShuttingDown => false,
        }
    }
}

/// The database was not copied.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// PostgreSQL has its own ways.
    #[error("the database is PostgreSQL: back it up with pg_dump or with its provider's backups")]
    NoFile,
    /// There is no database to copy.
    #[error(transparent)]
    Source(#[from] ConnectError),
    /// Nothing is ever overwritten.
    #[error("{} is there already: name a new file", .0.display())]
    Exists(PathBuf),
    /// The copy cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Place {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The copying failed.
    #[error("cannot copy the database: {0}")]
    Copying(#[from] PersistenceError),
    /// The process is about to end.
    #[error("refract is shutting down")]
    ShuttingDown,
}

/// The database was not brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A newer Refract has been here.
    #[error(
        "the database has migration {version}, which this version of refract does not know: \
         run a newer refract"
    )]
    SchemaIsNewer {
        /// The first migration that is unknown here.
        version: String,
    },
    /// A migration failed; none of this run was kept.
    #[error("cannot migrate the database: {0}")]
    Failed(String),
    /// There was no connection.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl From<Error> for MigrateError {
    fn from(error: Error) -> Self {
        Self::Failed(PersistenceError::from(error).to_string())
    }
}
