//! The database of Refract: PostgreSQL or SQLite, each query written once.
//!
//! [`Database`] is the way in. Its methods stand in the files of the tables that they are about;
//! each is one query unless it says otherwise. Unique constraints settle every race, so any number
//! of processes on one database are safe together: nothing here looks first and writes then.
//!
//! Transactions, and the queries of SQLite, run as tasks of the runtime that [`Database::connect`]
//! was given: they may be awaited from any other runtime, and a caller that goes away leaves none
//! half-way. The statements of an API call go over connections that belong to the calling thread,
//! where it has some: see [`Database::for_this_thread`]. Results that are saved at the same time
//! are inserted together.
//!
//! This crate knows nothing of HTTP or of models, and makes no ids and no times: both are
//! arguments.

#[macro_use]
mod connection;

mod accounts;
mod address;
mod api_keys;
mod backup;
mod cache;
mod calls;
mod connection_use;
mod database;
mod error;
mod file_runs;
mod fixed_text;
mod gathering;
mod lanes;
mod lenses;
mod migrations;
mod new_results;
mod postgres;
mod prism_versions;
mod prisms;
mod provenance;
mod result_columns;
mod result_lists;
mod result_pages;
mod result_rows;
mod results;
mod schema;
mod sql_types;
mod sqlite;
mod tls;

pub use accounts::{AccountRow, Creation, DEFAULT_ACCOUNT};
pub use api_keys::{ApiKeyRow, NewApiKey};
pub use backup::back_up;
pub use calls::{CreateCallRow, KeyRow, ResultCallRow};
pub use connection_use::ConnectionUse;
pub use database::{Database, DatabaseSettings};
pub use error::{BackupError, ConnectError, MigrateError, PersistenceError};
pub use file_runs::HeldRows;
pub use new_results::{NewResult, Saving};
pub use prism_versions::{NewVersion, PrismHistory};
pub use prisms::{NewPrism, PrismRow, Writing};
pub use provenance::Provenance;
pub use result_lists::{ResultFilter, ResultOrder};
pub use result_pages::ResultPages;
pub use results::FoundResult;
