//! Errors of the database, worded for its operator.
//!
//! No error holds a bound value, a text or a password: only the message of a server's error is
//! kept, never its detail, which quotes rows.

mod schema_error;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadpool::managed::{self, TimeoutType};
use diesel::result::{DatabaseErrorKind, Error};
use diesel_async::pooled_connection::deadpool::PoolError;

pub use self::schema_error::SchemaError;
use crate::schema::stored::UnreadableColumn;

/// The message for a database that takes too long.
pub(crate) const NO_ANSWER: &str = "it does not answer";

/// Longest wait of a query for a connection, and on a lane for the database's answer.
pub(crate) const WAIT: Duration = Duration::from_secs(10);

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
pub enum PersistenceError {
    /// No connection was available: the database is away, or all connections stayed busy for too
    /// long.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// The database failed or refused, for example because of a restart or a full disk.
    #[error("the database failed: {0}")]
    Failed(String),
    /// The connection takes no writes: it leads to a standby, or was opened while the server was
    /// read-only.
    #[error("the database failed: {0}")]
    ReadOnly(String),
    /// The statement breaks a rule of the schema: a bug.
    #[error("the database refused a statement: {0}")]
    Refused(String),
    /// A row that the statement refers to was deleted: a foreign key violation.
    #[error("the database refused a statement that refers to a deleted row: {0}")]
    ReferenceGone(String),
    /// A saved row cannot be read by this version of Refract.
    #[error("cannot read {column} of a saved row")]
    Unreadable {
        /// Table and column.
        column: &'static str,
    },
}

impl PersistenceError {
    /// The error for a database that takes too long. Whether the statement took effect is unknown.
    pub fn no_answer() -> Self {
        Self::Unavailable(NO_ANSWER.to_owned())
    }

    /// The kind of failure in one word, for traces.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "unavailable",
            Self::Failed(_) | Self::ReadOnly(_) => "failed",
            Self::Refused(_) => "refused",
            Self::ReferenceGone(_) => "reference_gone",
            Self::Unreadable { .. } => "unreadable",
        }
    }

    /// Whether a retry may succeed later.
    ///
    /// Saving a result again is safe: [`Database::save_result`](crate::Database::save_result)
    /// recognises the result that an earlier try left in the database.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::Failed(_) | Self::ReadOnly(_) => true,
            Self::Refused(_) | Self::ReferenceGone(_) | Self::Unreadable { .. } => false,
        }
    }
}

impl From<Infallible> for PersistenceError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl From<UnreadableColumn> for PersistenceError {
    fn from(UnreadableColumn(column): UnreadableColumn) -> Self {
        Self::Unreadable { column }
    }
}

impl From<Error> for PersistenceError {
    fn from(error: Error) -> Self {
        if let Error::DatabaseError(kind, what) = error {
            let message = what.message().to_owned();
            return if let DatabaseErrorKind::ForeignKeyViolation = kind {
                Self::ReferenceGone(message)
            } else if let DatabaseErrorKind::ReadOnlyTransaction = kind {
                Self::ReadOnly(message)
            } else if let DatabaseErrorKind::ClosedConnection = kind {
                Self::Unavailable(message)
            } else if breaks_a_rule(kind) || is_about_a_character(&message) {
                Self::Refused(message)
            } else {
                Self::Failed(message)
            };
        }
        // the message of a (de)serialization error quotes the value
        if let Error::DeserializationError(what) = error {
            let column = what.downcast_ref::<UnreadableColumn>();
            let column = column.map_or("a column", |UnreadableColumn(column)| column);
            return Self::Unreadable { column };
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
            | DatabaseErrorKind::NotNullViolation
            | DatabaseErrorKind::CheckViolation
    )
}

/// Whether PostgreSQL cannot hold a character of a value (SQLSTATE 22021 and 22P05), which no retry
/// changes. The driver passes on no code, and servers translate the rest of the message.
fn is_about_a_character(message: &str) -> bool {
    message.contains("UTF8") && message.contains("0x")
}

impl From<PoolError> for PersistenceError {
    fn from(error: PoolError) -> Self {
        Self::Unavailable(unavailable(&error))
    }
}

/// Describes why the pool had no connection.
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

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address begins with no known scheme.
    #[error("the database address must begin with sqlite:// or postgres://")]
    UnknownScheme,
    /// The address is PostgreSQL's, which this build leaves out.
    #[error(
        "this refract was built to try it and keeps nothing in PostgreSQL: use the one of \
         `make build`, or a file: sqlite://PATH"
    )]
    NotBuilt,
    /// The address cannot be read. It is not repeated here, since it may hold a password.
    #[error("the database address cannot be read: {0}")]
    Address(String),
    /// The pool has a size of zero.
    #[error("the database pool needs at least one connection")]
    EmptyPool,
    /// The file that holds the address cannot be read.
    #[error("cannot read the database address from {path}: {reason}")]
    UrlFile {
        /// The file's path.
        path: String,
        /// Why not.
        reason: String,
    },
    /// There is no SQLite file, and none may be created.
    #[error("there is no database {} in {}", name_of(path), folder_of(path))]
    NoFile {
        /// The absolute path of the file.
        path: PathBuf,
    },
    /// The SQLite file cannot be opened or created.
    #[error("cannot open the database file {path}: {reason}")]
    File {
        /// The file's path.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The certificates to trust, or the client certificate, cannot be used.
    #[error("a certificate for the database cannot be used: {0}")]
    Certificates(String),
    /// What stands before the server loses the prepared statements of a connection.
    #[error(
        "the pooler at {server} loses prepared statements ({reason}): use its session mode, \
         PgBouncer 1.21 or later with max_prepared_statements, or the server's own address"
    )]
    LosesStatements {
        /// Hosts and ports.
        server: String,
        /// What the trial was answered with.
        reason: String,
    },
    /// The process is shutting down.
    #[error("refract is shutting down")]
    ShuttingDown,
    /// No server answers, or the server refuses the connection.
    #[error("cannot connect to PostgreSQL at {server}: {reason}")]
    Unreachable {
        /// Hosts and ports.
        server: String,
        /// Why not.
        reason: String,
        /// Why the server may accept a connection later; `None` where waiting does not help.
        passing: Option<PassingReason>,
    },
}

impl ConnectError {
    /// Why waiting may help; `None` where it does not, as with a wrong name or password.
    pub fn passing(&self) -> Option<PassingReason> {
        match self {
            Self::Unreachable { passing, .. } => *passing,
            Self::UnknownScheme
            | Self::NotBuilt
            | Self::Address(_)
            | Self::EmptyPool
            | Self::UrlFile { .. }
            | Self::NoFile { .. }
            | Self::File { .. }
            | Self::Certificates(_)
            | Self::LosesStatements { .. }
            | Self::ShuttingDown => None,
        }
    }
}

/// Why a server may accept a connection later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassingReason {
    /// No server listens there yet; perhaps none ever will.
    NobodyListens,
    /// The server is starting, has no free connection, or is read-only for now.
    NotReady,
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn folder_of(path: &Path) -> String {
    path.parent().unwrap_or(path).display().to_string()
}

/// Why a backup was not made.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database is PostgreSQL, which has its own backup tools.
    #[error("the database is PostgreSQL: back it up with pg_dump or with its provider's backups")]
    NoFile,
    /// The database to copy could not be opened.
    #[error(transparent)]
    Source(#[from] ConnectError),
    /// A file exists at the copy's path, and no file is ever overwritten.
    #[error("{} is there already: name a new file", .0.display())]
    Exists(PathBuf),
    /// The copy cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Place {
        /// The copy's path.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// SQLite failed to copy the file.
    #[error("cannot copy the database: {0}")]
    Copying(#[from] PersistenceError),
    /// The process is shutting down.
    #[error("refract is shutting down")]
    ShuttingDown,
}

/// Why a database was not migrated.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A newer Refract has migrated the database.
    #[error(
        "the database has migration {version}, which this version of refract does not know: \
         run a newer refract, or have the newer refract go back: `refract migrate --to {newest}`"
    )]
    SchemaIsNewer {
        /// The first migration that this version does not know.
        version: String,
        /// The number of the last migration that this version knows.
        newest: u64,
    },
    /// No migration has the requested number.
    #[error("there is no migration {number}: the newest is {newest}")]
    NoSuchMigration {
        /// The requested number.
        number: u64,
        /// The number of the last migration.
        newest: u64,
    },
    /// A migration failed. All migrations of this run were rolled back.
    #[error("cannot migrate the database: {0}")]
    Failed(String),
    /// The database could not be reached.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl From<Error> for MigrateError {
    fn from(error: Error) -> Self {
        Self::failed(&PersistenceError::from(error).to_string())
    }
}

impl MigrateError {
    /// A failure in the database's words, with what to do where that is known.
    pub(crate) fn failed(words: &str) -> Self {
        let known = [
            (
                "permission denied for schema",
                "make its role the owner of the database, or grant it CREATE on the schema",
            ),
            (
                "no schema has been selected to create in",
                "search_path names no schema that exists",
            ),
        ];
        let known = known.iter().find(|(part, _)| words.contains(part));
        // a database that has a table before the first migration is another program's
        let is_taken = words.contains("0001_create_tables") && words.contains("already exists");
        let taken = is_taken.then_some("the table is another program's: take an empty database");
        let remedy = known.map(|(_, remedy)| *remedy).or(taken);
        Self::Failed(remedy.map_or_else(|| words.to_owned(), |remedy| format!("{words}: {remedy}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_migration_that_a_role_may_not_make_names_what_to_grant() {
        for (words, remedy) in [
            ("permission denied for schema public", "grant it CREATE"),
            (
                "Failed to run 0001_create_tables with: relation \"results\" already exists",
                "take an empty database",
            ),
        ] {
            let error = MigrateError::failed(words).to_string();
            assert!(error.contains(words) && error.contains(remedy), "{error}");
        }
        for other in [
            "deadlock detected",
            "Failed to run 0009_x with: relation \"y\" already exists",
        ] {
            let error = MigrateError::failed(other).to_string();
            assert_eq!(error, format!("cannot migrate the database: {other}"));
        }
    }

    #[test]
    fn a_character_that_the_database_cannot_hold_is_no_outage() {
        let error = |message: &str| {
            let message = Box::new(message.to_owned());
            PersistenceError::from(Error::DatabaseError(DatabaseErrorKind::Unknown, message))
        };
        for message in [
            "character with byte sequence 0xf0 0x9f 0x98 0x80 in encoding \"UTF8\" has no \
             equivalent in encoding \"LATIN1\"",
            "Zeichen mit Byte-Folge 0xe2 0x82 0xac in Kodierung »UTF8« hat keine Entsprechung in \
             Kodierung »LATIN1«",
            "invalid byte sequence for encoding \"UTF8\": 0x00",
        ] {
            assert!(!error(message).is_passing(), "{message}");
        }
        let ending = "terminating connection due to administrator command";
        assert!(error(ending).is_passing());
    }
}
