//! Looks at every budget in the background, for its announcements and its metric.
//!
//! One node on a database does so at a time: the one that holds the lease.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::{AccountId, NodeId};
use uuid::Uuid;

use super::Budgets;
use super::metrics::UsedParts;
use crate::{InternalError, Refract};

/// The name of the lease.
const LEASE: &str = "budgets";
/// How long a lease lasts without renewal: after a node died, nobody looks for this long.
const TERM: TimeDelta = TimeDelta::minutes(3);
/// The pause between two rounds.
const ROUND: Duration = Duration::from_mins(1);

/// Looks at every budget, in the background.
pub struct BudgetRounds {
    refract: Refract,
    node: NodeId,
    /// The parts that the metric shows; none while another node looks.
    shown: UsedParts,
}

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetOutcome {
    /// Another node looks.
    HeldByAnotherNode,
    /// The number of budgets that were looked at.
    LookedAt(usize),
}

impl Budgets<'_> {
    /// The background task, which looks at nothing until it is run.
    pub fn rounds(self) -> BudgetRounds {
        BudgetRounds {
            refract: self.refract.clone(),
            node: NodeId::new(Uuid::now_v7()),
            shown: UsedParts::new(),
        }
    }
}

impl BudgetRounds {
    /// Looks round after round, until it is dropped. Another node can take over when the lease
    /// expires.
    pub async fn run(mut self) -> Infallible {
        loop {
            // a node that starts has other things to do
            tokio::time::sleep(ROUND).await;
            if let Err(error) = self.round_now().await {
                tracing::warn!(%error, "budgets could not be looked at yet");
            }
        }
    }

    async fn round_now(&mut self) -> Result<BudgetOutcome, InternalError> {
        let now = self.refract.database.time(Utc::now()).await?;
        self.round(now).await
    }

    /// Looks at every budget at a moment.
    ///
    /// # Errors
    /// When the database fails. The next round looks again.
    pub async fn round(&mut self, now: DateTime<Utc>) -> Result<BudgetOutcome, InternalError> {
        let database = &self.refract.database;
        let taking = database.take_lease(LEASE, self.node, now, now + TERM);
        if !taking.await? {
            self.show(UsedParts::new());
            return Ok(BudgetOutcome::HeldByAnotherNode);
        }
        let budgets = database.list_budgets().await?;
        if budgets.is_empty() {
            self.show(UsedParts::new());
            return Ok(BudgetOutcome::LookedAt(0));
        }
        let accounts = database.list_accounts().await?.into_iter();
        let mut names: HashMap<AccountId, String> = accounts.map(|it| (it.id, it.name)).collect();
        let mut used = UsedParts::new();
        for row in budgets {
            let name = names.remove(&row.account).unwrap_or_default();
            match self.refract.budgets().look(row.account, now).await {
                Ok(None) => {}
                Ok(Some(found)) => {
                    used.insert(name, found.budget.used_ratio(found.spent));
                }
                // one account must not keep the others from being looked at
                Err(error) => {
                    let account = row.account;
                    tracing::warn!(%error, %account, "a budget could not be looked at yet");
                }
            }
        }
        let looked_at = used.len();
        self.show(used);
        Ok(BudgetOutcome::LookedAt(looked_at))
    }

    fn show(&mut self, used: UsedParts) {
        let earlier = std::mem::replace(&mut self.shown, used);
        self.refract.metrics.budgets.set(&earlier, &self.shown);
    }
}
