//! The settings of the database.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use refract_service::store::{DatabaseSettings, DatabaseUrl};

use crate::arguments;

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
