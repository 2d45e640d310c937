//! Metrics of budgets: the used part of each.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The most series, as of the metrics of drift.
const MOST_SERIES: usize = 2_000;

/// The used part of each budget, by the name of the account.
pub(super) type UsedParts = BTreeMap<String, f64>;
/// The labels of a budget.
type AccountLabels = [(&'static str, String); 1];

/// The used parts of budgets, by account, on the node that looks at them. Other nodes export
/// nothing.
#[derive(Clone, Default)]
pub(crate) struct BudgetMetrics {
    used: Family<AccountLabels, Gauge<f64, AtomicU64>>,
}

impl BudgetMetrics {
    /// Adds the metric to a registry.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "refract_budget_used_ratio",
            "Used part of an account's budget for this month: 1 for all of it",
            self.used.clone(),
        );
    }

    /// Sets the series: the used part by the name of the account. Removes those of `earlier` ones
    /// that have no budget any more.
    pub(super) fn set(&self, earlier: &UsedParts, used: &UsedParts) {
        for account in earlier
            .keys()
            .filter(|account| !used.contains_key(*account))
        {
            self.used.remove(&labels(account));
        }
        for (account, ratio) in used.iter().take(MOST_SERIES) {
            self.used.get_or_create(&labels(account)).set(*ratio);
        }
    }
}

fn labels(account: &str) -> AccountLabels {
    [("account", account.to_owned())]
}
