//! The database of Refract: PostgreSQL or SQLite, each query written once.
//!
//! [`Database`] is the entry point. The crate has two layers: `connections` opens, pools and shares
//! connections and knows no table; `queries` has the methods of [`Database`], a folder per noun,
//! and knows no kind of connection. Unique constraints settle every race, so any number of
//! processes on one database are safe together: no query checks first and writes afterwards.
//!
//! Queries may be awaited from any runtime, and a cancelled caller leaves none half done. A thread
//! that serves many calls has its own connections: see [`Database::for_this_thread`]. Results that
//! are saved at the same time share a statement and a commit (group commit).
//!
//! This crate knows nothing of HTTP or of models. It makes no ids and no times: both are arguments.

mod backup;
mod connections;
mod deleted_traces;
mod error;
mod migrations;
mod queries;
mod schema;

pub use backup::back_up;
pub use connections::{ConnectionUse, DatabaseUrl};
pub use error::{
    BackupError, ConnectError, MigrateError, PassingReason, PersistenceError, SchemaError,
};
pub use migrations::{MigrationPlan, MigrationStep, RemovedData};
pub use queries::*;
