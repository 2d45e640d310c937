//! What the use cases of a call need.

use refract_model_gateway::Model;
use refract_persistence::Database;
use refract_traces::CallTrace;

use crate::api_keys::KeyUses;
use crate::first_calls::FirstCalls;
use crate::metrics::ServiceMetrics;
use crate::save_backoff::SaveBackoff;

/// The use cases of callers: create, read and retry a result.
///
/// Each worker thread has its own, because a thread owns its connections to the model. Clones are
/// cheap.
#[derive(Clone)]
pub struct Refract {
    pub(crate) database: Database,
    pub(crate) model: Model,
    pub(crate) key_uses: KeyUses,
    pub(crate) metrics: ServiceMetrics,
    pub(crate) save_backoff: SaveBackoff,
    pub(crate) first_calls: FirstCalls,
}

impl Refract {
    /// The use cases over a database and the calling thread's connections to the model.
    pub fn new(
        database: Database,
        model: Model,
        key_uses: KeyUses,
        metrics: ServiceMetrics,
    ) -> Self {
        Self {
            database,
            model,
            key_uses,
            metrics,
            save_backoff: SaveBackoff::default(),
            first_calls: FirstCalls::default(),
        }
    }

    /// Replaces the default backoff of saves, so that the server can tell it when it drains.
    pub fn with_save_backoff(self, save_backoff: SaveBackoff) -> Self {
        Self {
            save_backoff,
            ..self
        }
    }

    /// Lets first calls with one idempotency key wait for one another on all threads of a node.
    pub fn with_first_calls(self, first_calls: FirstCalls) -> Self {
        Self {
            first_calls,
            ..self
        }
    }

    /// The use cases of one request, whose trace covers what they ask of the model and the database.
    pub fn traced(self, trace: CallTrace) -> Self {
        Self {
            database: self.database.traced(trace.clone()),
            model: self.model.traced(trace),
            ..self
        }
    }

    /// The database, for the use cases that ask no model. The app hands it on and calls none of its
    /// methods.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Whether the database answers a ping. The caller decides how long to wait.
    pub async fn is_ready(&self) -> bool {
        self.database.ping().await.is_ok()
    }
}
