//! Identity: the people, API keys and accounts of an installation, and the events of what they
//! change.
//!
//! [`Identity`] has a handle for each noun. It answers who makes a call or a change, and whether they
//! may: [`AccountActor`](people::AccountActor) is what the other use cases get. It knows no prism and
//! no result: only events, whose targets are named by a query of the database. It knows nothing of
//! HTTP, SQL or models.

pub mod events;
pub mod keys;
mod new_id;
pub mod people;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use refract_persistence::Database;

pub use crate::new_id::new_id;

use crate::keys::{KeyMetrics, KeyUses};
use crate::people::SignInWays;

/// The use cases of identity over one database. Clones are cheap and share the metrics and the uses
/// of keys that are not saved yet.
#[derive(Clone)]
pub struct Identity {
    database: Database,
    key_uses: KeyUses,
    key_metrics: KeyMetrics,
    sign_in_ways: SignInWays,
    /// Set once an account was found to have people.
    has_people: Arc<AtomicBool>,
}

impl Identity {
    /// The use cases over a database. People sign in by passwords only, until other ways are
    /// [set](Self::with_sign_in_ways).
    pub fn new(database: Database) -> Self {
        Self {
            database,
            key_uses: KeyUses::default(),
            key_metrics: KeyMetrics::default(),
            sign_in_ways: SignInWays::default(),
            has_people: Arc::default(),
        }
    }

    /// Sets the database, such as that of a thread or of a request.
    #[must_use]
    pub fn with_database(self, database: Database) -> Self {
        Self { database, ..self }
    }

    /// Sets metrics of keys that are exported.
    #[must_use]
    pub fn with_key_metrics(self, key_metrics: KeyMetrics) -> Self {
        Self {
            key_metrics,
            ..self
        }
    }

    /// Sets how people may sign in.
    #[must_use]
    pub fn with_sign_in_ways(self, sign_in_ways: SignInWays) -> Self {
        Self {
            sign_in_ways,
            ..self
        }
    }
}
