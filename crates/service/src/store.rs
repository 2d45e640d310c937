//! The database: opened, migrated, copied, and the whole of an account out of it and into it. And
//! rounds of work that one node at a time does for all nodes on a database.

mod account_export;
mod account_import;
mod account_manifest;

use std::convert::Infallible;
use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use refract_boxed_futures::boxed;
use refract_domain::ids::NodeId;
use refract_persistence::Database;
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::Refract;

pub use self::account_export::{AccountExportError, AccountExportOptions};
pub use self::account_import::{AccountImportError, ImportedAccount};
pub use self::account_manifest::{
    ACCOUNT_EXPORT_FORMAT, AccountManifest, ManifestAccount, ManifestError, ManifestFile,
};
pub use refract_persistence::{
    BackupError, ConnectError, DatabaseSettings, DatabaseUrl, MigrateError, MigrationPlan,
    MigrationStep, PassingReason, PersistenceError, RemovedData, SchemaError,
};

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

/// How long a lease lasts without renewal: after a node died, nobody does its work for this long.
const TERM: TimeDelta = TimeDelta::minutes(3);
/// The age at which a lease is renewed.
const RENEWAL: Duration = Duration::from_mins(1);
/// The pause after a page of work, as a multiple of the page's time: at most a fifth of the time goes
/// to such work, the rest to calls.
const REST: u32 = 4;
/// The pause between two rounds.
pub(crate) const ROUND: Duration = Duration::from_mins(1);

/// A node's claim to the lease of some work. Nothing is taken until a round asks for it.
pub(crate) struct NodeLease {
    database: Database,
    /// The name of the work, the same on all nodes.
    name: &'static str,
    node: NodeId,
}

/// A lease that this node holds during a round.
pub(crate) struct HeldLease<'a> {
    lease: &'a NodeLease,
    /// The moment of the round, and when it was.
    now: DateTime<Utc>,
    began: Instant,
    renewed: Instant,
}

/// Does rounds, each at a moment of the database's clock, until it is dropped; another node can take
/// over when the lease expires. `failed` is logged when a round fails.
pub(crate) async fn repeat_rounds<T, E>(
    database: Database,
    failed: &'static str,
    mut round: impl AsyncFnMut(DateTime<Utc>) -> Result<T, E>,
) -> Infallible
where
    E: Display + From<PersistenceError>,
{
    loop {
        // a node that starts has other things to do
        tokio::time::sleep(ROUND).await;
        let done = match database.time(Utc::now()).await {
            Ok(now) => round(now).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = done {
            tracing::warn!(%error, "{failed}");
        }
    }
}

impl NodeLease {
    pub(crate) fn new(database: &Database, name: &'static str) -> Self {
        Self {
            database: database.clone(),
            name,
            node: NodeId::new(Uuid::now_v7()),
        }
    }

    /// Takes the lease at a moment of the database's clock; `None` while another node holds it.
    pub(crate) async fn take(
        &self,
        now: DateTime<Utc>,
    ) -> Result<Option<HeldLease<'_>>, PersistenceError> {
        let began = Instant::now();
        let held = HeldLease {
            lease: self,
            now,
            began,
            renewed: began,
        };
        Ok(self.is_taken(now).await?.then_some(held))
    }

    /// Releases the lease if this node holds it, so that another node can take it at once.
    pub(crate) async fn release(&self) -> Result<(), PersistenceError> {
        self.database.release_lease(self.name, self.node).await
    }

    async fn is_taken(&self, now: DateTime<Utc>) -> Result<bool, PersistenceError> {
        let until = now + TERM;
        let taking = self.database.take_lease(self.name, self.node, now, until);
        taking.await
    }
}

impl HeldLease<'_> {
    /// The moment of the database's clock now, from that of the round.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.now + TimeDelta::from_std(self.began.elapsed()).unwrap_or_default()
    }

    /// Pauses after a page of work that took some time, then renews the lease when that is due.
    /// Returns `false` when another node has it.
    pub(crate) async fn is_kept_after_rest(
        &mut self,
        took: Duration,
    ) -> Result<bool, PersistenceError> {
        tokio::time::sleep(took * REST).await;
        self.is_kept().await
    }

    /// Renews the lease when that is due. Returns `false` when another node has it.
    pub(crate) async fn is_kept(&mut self) -> Result<bool, PersistenceError> {
        if self.renewed.elapsed() < RENEWAL {
            return Ok(true);
        }
        self.renewed = Instant::now();
        self.lease.is_taken(self.now()).await
    }
}

/// The largest difference that is no fault: codes of a person's app are taken half a minute early or
/// late.
const MOST: TimeDelta = TimeDelta::seconds(30);
/// The pause between two warnings.
const PAUSE: Duration = Duration::from_hours(1);

/// Warns that the clocks of a node and of the database differ, once an hour.
#[derive(Default)]
pub(crate) struct ClockWarning {
    warned: Option<Instant>,
}

impl ClockWarning {
    /// Compares the two clocks, as they were read one right after the other.
    pub(crate) fn compare(&mut self, database: DateTime<Utc>, node: DateTime<Utc>) {
        if self.warned.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        if let Some(difference) = difference(database, node) {
            tracing::warn!(
                "{difference}: set both by NTP; results of a node whose clock is over half an hour \
                 behind may never be counted"
            );
            self.warned = Some(Instant::now());
        }
    }
}

/// The difference in words, where it is too large.
fn difference(database: DateTime<Utc>, node: DateTime<Utc>) -> Option<String> {
    let ahead = node - database;
    let direction = if ahead > TimeDelta::zero() {
        "ahead of"
    } else {
        "behind"
    };
    let seconds = ahead.num_seconds().unsigned_abs();
    (ahead.abs() > MOST).then(|| {
        format!("this node's clock is {seconds} s {direction} that of the database server")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_over_half_a_minute_is_named_with_its_direction() {
        let found = |seconds| {
            let database = DateTime::UNIX_EPOCH;
            difference(database, database + TimeDelta::seconds(seconds))
        };
        for seconds in [-30, 0, 30] {
            assert_eq!(found(seconds), None);
        }
        for (seconds, words) in [(31, "31 s ahead of that"), (-3_601, "3601 s behind that")] {
            let difference = found(seconds).unwrap();
            assert!(difference.contains(words), "{difference}");
        }
    }

    #[test]
    fn a_difference_is_warned_of_once_an_hour() {
        let mut warning = ClockWarning::default();
        let database = DateTime::UNIX_EPOCH;
        warning.compare(database, database);
        assert_eq!(warning.warned, None);
        warning.compare(database, database + TimeDelta::hours(1));
        let first = warning.warned;
        assert!(first.is_some());
        warning.compare(database, database + TimeDelta::hours(1));
        assert_eq!(warning.warned, first);
    }
}
