//! The entry point of Refract: one handle, [`Refract`], with a handle for each noun.
//!
//! A use case is a method of its noun's handle: `refract.results().create(…)`,
//! `refract.people().invite(…)`. It takes the caller and parsed arguments, and returns views. The
//! layers above never see a database, a row or a model.
//!
//! Who makes a call is the business of `refract-identity`, whose handles [`Refract`] hands out.
//! This is the only place where the order of checks lives. Rules come from the domain, stored rows
//! from the database and answers from the model gateway. It knows nothing of HTTP, SQL or the
//! protocols of model servers.

mod asking;
pub mod drafts;
pub mod jobs;
pub mod lenses;
pub mod marks;
pub mod measures;
pub mod model;
pub mod prisms;
pub mod results;
pub mod retention;
pub mod runs;
pub mod store;

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use refract_boxed_futures::boxed;
use refract_domain::ids::AccountId;
use refract_domain::result::{HeldByAnotherPrism, RetryError};
use refract_domain::submission::FieldMismatch;
use refract_domain::submission::budget::OverBudget;
use refract_identity::Identity;
use refract_identity::events::Events;
use refract_identity::keys::{InvalidApiKey, Keys};
use refract_identity::people::{Accounts, People, SignInWays};
use refract_persistence::{CountedCost, Database, PersistenceError};
use refract_traces::CallTrace;
use tokio::sync::Notify;

use crate::model::{CallPriority, Model};
use crate::results::{RetryPolicy, ServiceMetrics, SingleFlight};

/// All use cases, by noun, over one database and one model. Clones are cheap and share the metrics,
/// the calls in flight and the connections.
#[derive(Clone)]
pub struct Refract {
    pub(crate) database: Database,
    identity: Identity,
    model: Option<Model>,
    pub(crate) metrics: ServiceMetrics,
    pub(crate) retry_policy: RetryPolicy,
    pub(crate) single_flight: SingleFlight,
    /// What months had cost when this node read it.
    pub(crate) month_costs: Arc<Mutex<HashMap<AccountId, CountedCost>>>,
    /// Notified when a person of this node leaves a file run to the nodes.
    pub(crate) run_waits: Arc<Notify>,
}

#[boxed]
impl Refract {
    /// All use cases over a database. Those that need a model fail until it is
    /// [set](Self::with_model).
    pub fn new(database: Database) -> Self {
        Self {
            identity: Identity::new(database.clone()),
            database,
            model: None,
            metrics: ServiceMetrics::default(),
            retry_policy: RetryPolicy::default(),
            single_flight: SingleFlight::default(),
            month_costs: Arc::default(),
            run_waits: Arc::default(),
        }
    }

    /// Sets the model that answers.
    #[must_use]
    pub fn with_model(self, model: Model) -> Self {
        let model = Some(model);
        Self { model, ..self }
    }

    /// Sets metrics that are exported.
    #[must_use]
    pub fn with_metrics(self, metrics: ServiceMetrics) -> Self {
        Self {
            identity: self.identity.with_key_metrics(metrics.keys.clone()),
            metrics,
            ..self
        }
    }

    /// Sets how people may sign in; without, by passwords only.
    #[must_use]
    pub fn with_sign_in_ways(self, sign_in_ways: SignInWays) -> Self {
        Self {
            identity: self.identity.with_sign_in_ways(sign_in_ways),
            ..self
        }
    }

    /// Sets the retry policy for saving. The server notifies the policy when it begins to drain.
    #[must_use]
    pub fn with_retry_policy(self, retry_policy: RetryPolicy) -> Self {
        Self {
            retry_policy,
            ..self
        }
    }

    /// A handle for the calling thread, which has its own runtime. Its connections to the model are
    /// not shared with other threads. With `threads`, the number of threads that query the database
    /// in every call, it has its own database connections too; pass `None` for a thread that rarely
    /// queries the database.
    #[must_use]
    pub fn for_this_thread(&self, threads: Option<NonZeroUsize>) -> Self {
        let own = threads.map(|threads| self.database.for_this_thread(threads));
        let database = own.unwrap_or_else(|| self.database.clone());
        Self {
            identity: self.identity.clone().with_database(database.clone()),
            database,
            model: self.model.as_ref().map(Model::with_own_connections),
            ..self.clone()
        }
    }

    /// A handle whose model requests have this priority.
    #[must_use]
    pub(crate) fn with_priority(self, priority: CallPriority) -> Self {
        Self {
            model: self.model.map(|model| model.with_priority(priority)),
            ..self
        }
    }

    /// A handle whose model requests ask the same servers for the model of this name.
    #[must_use]
    pub(crate) fn with_model_named(self, name: &str) -> Self {
        Self {
            model: self.model.map(|model| model.named(name)),
            ..self
        }
    }

    /// A handle for one request, whose trace covers its model requests and database queries.
    #[must_use]
    pub fn traced(self, trace: CallTrace) -> Self {
        let database = self.database.traced(trace.clone());
        Self {
            identity: self.identity.with_database(database.clone()),
            database,
            model: self.model.map(|model| model.traced(trace)),
            ..self
        }
    }

    /// People of the app, their invitations, passwords and sessions.
    pub fn people(&self) -> People<'_> {
        self.identity.people()
    }

    /// API keys.
    pub fn keys(&self) -> Keys<'_> {
        self.identity.keys()
    }

    /// Accounts, each with its own prisms, keys, people and results.
    pub fn accounts(&self) -> Accounts<'_> {
        self.identity.accounts()
    }

    /// Events: what was changed in an account.
    pub fn events(&self) -> Events<'_> {
        self.identity.events()
    }

    /// Whether the database answers a ping. The caller decides how long to wait.
    pub async fn is_ready(&self) -> bool {
        self.database.ping().await.is_ok()
    }

    /// Whether the built-in scorer answers. Every user interface must label its answers
    /// accordingly.
    pub fn is_for_trying_only(&self) -> bool {
        self.model.as_ref().is_some_and(Model::is_for_trying_only)
    }

    /// The model; [`InternalError::NoModel`] if none is set.
    pub(crate) fn model(&self) -> Result<&Model, InternalError> {
        self.model.as_ref().ok_or(InternalError::NoModel)
    }
}

/// Why a call was refused, before anything was saved.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The API key is unknown, revoked or expired, or the client is outside its networks.
    #[error("Invalid API key")]
    InvalidApiKey,
    /// The account has no such prism, or the prism is archived.
    #[error("Prism not found")]
    PrismNotFound,
    /// The prism has no version of the pinned number.
    #[error("Prism version not found")]
    VersionNotFound,
    /// The account has no such result.
    #[error("Result not found")]
    ResultNotFound,
    /// The idempotency key is held by a result of another prism.
    #[error(transparent)]
    HeldByAnotherPrism(#[from] HeldByAnotherPrism),
    /// The result cannot be retried.
    #[error(transparent)]
    Retry(#[from] RetryError),
    /// The fields sent are not the fields of the version.
    #[error(transparent)]
    Fields(#[from] FieldMismatch),
    /// The token estimate is over the budget.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The service failed, not the caller.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

/// A bug or a failure of the database. The text is for the operator's log, not for callers.
#[derive(Debug, thiserror::Error)]
pub enum InternalError {
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
    /// A saved result or a prism names a version that does not exist.
    #[error("a version that a result or a prism names is missing")]
    VersionMissing,
    /// The lens was replaced during every attempt to read it.
    #[error("the lens changed while it was read: try again")]
    LensKeepsMoving,
    /// No model was given to the use cases.
    #[error("there is no model to ask")]
    NoModel,
}

impl From<InvalidApiKey> for CallError {
    fn from(_: InvalidApiKey) -> Self {
        Self::InvalidApiKey
    }
}

impl From<PersistenceError> for CallError {
    fn from(error: PersistenceError) -> Self {
        Self::Internal(InternalError::Persistence(error))
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_failure_of_the_database_is_described_once() {
        let error = CallError::from(PersistenceError::no_answer());
        assert_eq!(
            error.to_string(),
            "the database is not available: it does not answer"
        );
        assert!(error.source().is_none());
    }
}
