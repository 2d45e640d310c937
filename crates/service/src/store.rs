//! The database: opened, migrated, copied, and the whole of an account out of it and into it.

mod account_export;
mod account_import;
mod account_manifest;
pub(crate) mod clock_warning;
pub(crate) mod node_lease;

use refract_boxed_futures::boxed;
use std::path::Path;

use chrono::{DateTime, Utc};
use refract_persistence::Database;
pub use refract_persistence::{
    BackupError, ConnectError, DatabaseSettings, DatabaseUrl, MigrateError, MigrationPlan,
    MigrationStep, PassingReason, PersistenceError, RemovedData, SchemaError,
};
use tokio::runtime::Handle;

pub use self::account_export::{AccountExportError, AccountExportOptions};
pub use self::account_import::{AccountImportError, ImportedAccount};
pub use self::account_manifest::{
    ACCOUNT_EXPORT_FORMAT, AccountManifest, ManifestAccount, ManifestError, ManifestFile,
};
use crate::Refract;

/// The address of the database of `refract demo`, in the folder in which it was started.
pub const DEMO_DATABASE_URL: &str = "sqlite://refract-demo.db";

/// The use cases of the database itself, from [`Refract::store`](crate::Refract::store).
#[derive(Clone, Copy)]
pub struct Store<'a> {
    pub(crate) refract: &'a Refract,
}

#[boxed]
impl Refract {
    /// The database itself: its migrations and its connections.
    pub fn store(&self) -> Store<'_> {
        Store { refract: self }
    }

    /// Opens the database without running migrations; a missing SQLite file is created. Connections
    /// live on the calling runtime.
    ///
    /// # Errors
    /// When the settings are unusable or the database does not answer.
    pub async fn connect(settings: &DatabaseSettings) -> Result<Self, ConnectError> {
        let database = Database::connect(settings, Handle::current()).await?;
        Ok(Self::new(database))
    }

    /// Opens an existing database without running migrations. Connections live on the calling
    /// runtime.
    ///
    /// # Errors
    /// When the SQLite file is missing, the settings are unusable or the database does not answer.
    pub async fn connect_existing(settings: &DatabaseSettings) -> Result<Self, ConnectError> {
        let database = Database::connect_existing(settings, Handle::current()).await?;
        Ok(Self::new(database))
    }
}

#[boxed]
impl Store<'_> {
    /// Tries whether a pooler before the database keeps prepared statements.
    ///
    /// # Errors
    /// When it loses them; worded for the operator.
    pub async fn check_pooler(self) -> Result<(), ConnectError> {
        self.refract.database.check_pooler().await
    }

    /// The time of the database server's clock; `of_node` for an SQLite file, which has none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn time(self, of_node: DateTime<Utc>) -> Result<DateTime<Utc>, PersistenceError> {
        self.refract.database.time(of_node).await
    }

    /// Runs the missing migrations, and returns their number.
    ///
    /// # Errors
    /// When a migration fails or the database is newer than this program.
    pub async fn migrate(self) -> Result<usize, MigrateError> {
        self.refract.database.migrate().await
    }

    /// Checks that the database has exactly the migrations of this program.
    ///
    /// # Errors
    /// When it is older or newer, empty or another program's; worded for the operator.
    pub async fn check_schema(self) -> Result<(), SchemaError> {
        self.refract.database.check_schema().await
    }

    /// Plans the migration of the database to a given migration, or to the newest.
    ///
    /// # Errors
    /// When there is no such migration or the database fails.
    pub async fn plan_migration(self, to: Option<u64>) -> Result<MigrationPlan, MigrateError> {
        self.refract.database.plan_migration(to).await
    }

    /// Migrates the database to a given migration, forwards or back.
    ///
    /// # Errors
    /// When there is no such migration, or one fails.
    pub async fn migrate_to(self, to: u64) -> Result<MigrationPlan, MigrateError> {
        self.refract.database.migrate_to(to).await
    }
}

/// Copies a database's SQLite file while it is in use, and returns the size of the copy in bytes.
///
/// # Errors
/// When the database is not an SQLite file, or the copy cannot be made.
pub async fn back_up(url: &DatabaseUrl, file: &Path) -> Result<u64, BackupError> {
    refract_persistence::back_up(url, file).await
}
