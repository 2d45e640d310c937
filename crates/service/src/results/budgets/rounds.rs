//! Looks at every budget in the background, for its announcements and its metric.
//!
//! One node on a database does so at a time: the one that holds the lease.

use std::collections::HashMap;
use std::convert::Infallible;

use chrono::{DateTime, Utc};
use refract_domain::ids::AccountId;

use super::Budgets;
use super::metrics::UsedParts;
use crate::store::node_lease::{NodeLease, repeat_rounds};
use crate::{InternalError, Refract};

/// The name of the lease.
const LEASE: &str = "budgets";

/// Looks at every budget, in the background.
pub struct BudgetRounds {
    refract: Refract,
    lease: NodeLease,
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
            lease: NodeLease::new(&self.refract.database, LEASE),
            shown: UsedParts::new(),
        }
    }
}

impl BudgetRounds {
    /// Looks round after round, until it is dropped. Another node can take over when the lease
    /// expires.
    pub async fn run(mut self) -> Infallible {
        let database = self.refract.database.clone();
        let failed = "budgets could not be looked at yet";
        repeat_rounds(database, failed, async |now| self.round(now).await).await
    }

    /// Looks at every budget at a moment.
    ///
    /// # Errors
    /// When the database fails. The next round looks again.
    pub async fn round(&mut self, now: DateTime<Utc>) -> Result<BudgetOutcome, InternalError> {
        let database = &self.refract.database;
        if self.lease.take(now).await?.is_none() {
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
