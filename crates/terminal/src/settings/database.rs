//! The settings of the database, and the retention period of results.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::Args;
use refract_service::Refract;
use refract_service::retention::RetentionRounds;
use refract_service::store::{DatabaseSettings, DatabaseUrl};

use crate::arguments::{self, OnOrOff};

/// The settings of the database.
#[derive(Args, Clone)]
#[command(next_help_heading = "Database")]
#[expect(
    clippy::struct_field_names,
    reason = "clap names flags after them, beside those of the commands that they are part of"
)]
pub struct DatabaseArgs {
    /// `sqlite://PATH` (embedded, one node) or `postgres://…` (any number of nodes)
    #[arg(
        long,
        env = "DATABASE_URL",
        default_value = "sqlite://refract.db",
        value_name = "URL",
        hide_env_values = true,
        global = true
    )]
    database_url: String,

    /// A file that holds the database's address, instead of --database-url; it is read again when
    /// the server refuses its password
    #[arg(long, env = "DATABASE_URL_FILE", value_name = "FILE", global = true)]
    database_url_file: Option<PathBuf>,

    /// Connections that a node may hold (PostgreSQL)
    #[arg(
        long,
        env = "REFRACT_DATABASE_POOL",
        default_value = "16",
        value_parser = arguments::from_1::<NonZeroUsize>,
        value_name = "N",
        global = true
    )]
    database_pool: NonZeroUsize,
}

impl DatabaseArgs {
    /// The path of the SQLite file; `None` for PostgreSQL.
    pub(crate) fn sqlite_file(&self) -> Option<PathBuf> {
        let url = match self.settings().url {
            DatabaseUrl::InFile(file) => std::fs::read_to_string(file).ok()?,
            DatabaseUrl::Given(url) => url,
        };
        let path = url.trim_end().strip_prefix("sqlite://")?;
        Some(PathBuf::from(path))
    }

    /// The files that the database is in, and the one with its address.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let database = self.sqlite_file().into_iter();
        let database = database.flat_map(|file| {
            ["", "-wal", "-shm"].map(|end| {
                let mut name = file.clone().into_os_string();
                name.push(end);
                PathBuf::from(name)
            })
        });
        database.chain(self.database_url_file.clone()).collect()
    }

    /// Converts the settings to those of the persistence crate.
    pub fn settings(&self) -> DatabaseSettings {
        let file = self.database_url_file.as_ref();
        let file = file.filter(|path| !path.as_os_str().is_empty());
        DatabaseSettings {
            url: match file {
                Some(file) => DatabaseUrl::InFile(file.clone()),
                None => DatabaseUrl::from(self.database_url.as_str()),
            },
            pool: self.database_pool.get(),
        }
    }
}

/// How long results are kept.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Results")]
pub struct RetentionArgs {
    /// Days after which results are purged in the background [default: never]
    #[arg(long, env = "REFRACT_RETENTION_DAYS", value_name = "DAYS", value_parser = arguments::days::<NonZeroU32>)]
    retention_days: Option<NonZeroU32>,

    /// `on` skips the check of the clock and of the share of results in the first round of purging
    /// after the start
    ///
    /// For retention that was just switched on or shortened, where most results are to go.
    #[arg(
        long,
        env = "REFRACT_RETENTION_UNCHECKED",
        default_value = "off",
        value_name = "ON_OR_OFF"
    )]
    retention_unchecked: OnOrOff,
}

impl RetentionArgs {
    /// The rounds of purging; `None` if results are kept forever.
    pub fn rounds(self, refract: &Refract) -> Option<RetentionRounds> {
        let rounds = refract.retention().rounds(self.retention_days?);
        Some(match self.retention_unchecked {
            OnOrOff::On => rounds.with_unchecked_first_round(),
            OnOrOff::Off => rounds,
        })
    }
}
