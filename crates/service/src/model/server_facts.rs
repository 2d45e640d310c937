//! Keeps with the database what a process learns about the model servers, so that the next one need
//! not learn it again.

use std::convert::Infallible;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use refract_model_gateway::{Model, ModelGateway};
use refract_persistence::PersistenceError;

use crate::Refract;

/// How long what was learned is trusted: meanwhile another server may have taken the address.
const TRUSTED: TimeDelta = TimeDelta::days(1);
/// The pause between two rounds.
const ROUND: Duration = Duration::from_secs(10);

impl Refract {
    /// Sets the model of a gateway, which begins with what any process over this database learned
    /// about its servers within the last day.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn with_gateway(self, gateway: &mut ModelGateway) -> Result<Self, PersistenceError> {
        if let Some(servers) = gateway.servers_name() {
            let since = Utc::now() - TRUSTED;
            let facts = self.database.find_server_facts(servers, since).await?;
            if let Some(facts) = facts {
                gateway.recall(&facts);
            }
        }
        Ok(self.with_model(gateway.model()))
    }

    /// Keeps what was learned about the model servers so far. A failure is logged only: the
    /// next process learns it again.
    pub async fn keep_server_facts(&self) {
        self.keep(self.learned()).await;
    }

    /// Keeps what this node learns about the model servers until it is dropped.
    pub(crate) async fn keep_server_facts_in_rounds(&self) -> Infallible {
        let mut kept = None;
        loop {
            tokio::time::sleep(ROUND).await;
            let learned = self.learned();
            if learned != kept {
                self.keep(learned.clone()).await;
                kept = learned;
            }
        }
    }

    fn learned(&self) -> Option<(String, String)> {
        self.model.as_ref().and_then(Model::learned)
    }

    async fn keep(&self, learned: Option<(String, String)>) {
        let Some((servers, facts)) = learned else {
            return;
        };
        let now = Utc::now();
        let database = &self.database;
        let saving = database.save_server_facts(servers, facts, now, now - TRUSTED);
        if let Err(error) = saving.await {
            tracing::debug!(%error, "what was learned about the model servers is not kept");
        }
    }
}
