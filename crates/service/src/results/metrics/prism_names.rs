//! Looks up the names of prisms with new metrics, in the background.

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use refract_domain::ids::AccountId;

use super::prism_metrics::SeriesName;
use crate::results::Results;
use crate::{InternalError, Refract};

/// The pause between two looks for prisms without a name.
const LOOK: Duration = Duration::from_secs(1);

/// Names the prisms of a node's metrics, in the background.
pub struct PrismNames {
    refract: Refract,
}

impl Results<'_> {
    /// The background task, which names nothing until it is run.
    pub fn prism_names(self) -> PrismNames {
        PrismNames {
            refract: self.refract.clone(),
        }
    }
}

#[boxed]
impl PrismNames {
    /// Names prisms until it is dropped. A prism is exported with its name, a second after its first
    /// result.
    pub async fn run(self) -> Infallible {
        loop {
            tokio::time::sleep(LOOK).await;
            if let Err(error) = self.round().await {
                tracing::warn!(%error, "the prisms of metrics could not be named yet");
                tokio::time::sleep(LOOK * 10).await;
            }
        }
    }

    /// Names the prisms that have none yet. Queries nothing if there are none.
    pub async fn round(&self) -> Result<(), InternalError> {
        let (database, metrics) = (&self.refract.database, &self.refract.metrics.prisms);
        let unnamed = metrics.unnamed();
        if unnamed.is_empty() {
            return Ok(());
        }
        let accounts = database.list_accounts().await?.into_iter();
        let names: HashMap<AccountId, String> = accounts.map(|it| (it.id, it.name)).collect();
        for id in unnamed {
            if let Some(prism) = database.find_prism_by_id(id).await? {
                let name = SeriesName {
                    account: names.get(&prism.account).cloned().unwrap_or_default(),
                    slug: prism.slug.to_string(),
                };
                metrics.name(id, name);
            }
        }
        Ok(())
    }
}
