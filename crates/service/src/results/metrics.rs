//! Metrics of asking the model, saving results and using budgets.

mod collectors;
mod prism_metrics;
mod prism_names;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use refract_identity::keys::KeyMetrics;
use refract_model_gateway::ModelReport;

pub use self::collectors::{register_database, register_model};
pub(crate) use self::prism_metrics::{PrismMetrics, SavedUse};
pub use self::prism_names::PrismNames;
use crate::measures::watch::WatchMetrics;

/// The most series, as of the metrics of drift.
const MOST_SERIES: usize = 2_000;

/// Upper bounds of the histogram's buckets in seconds: from a model on the same machine to two full
/// attempts.
const BUCKETS: [f64; 13] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 40.0,
];

/// Counts how often the model was asked and how many results were saved. Clones share the counts.
#[derive(Clone)]
pub struct ServiceMetrics {
    model_calls: Family<Label, Counter>,
    model_call_duration: Histogram,
    model_requests: Counter,
    model_tokens: Family<Label, Counter>,
    model_cost: Counter<f64, AtomicU64>,
    texts_truncated: Counter,
    results_saved: Family<Label, Counter>,
    saves_failed: Counter,
    repeats_waiting: Gauge,
    results_purged: Counter,
    retention_refused: Family<Label, Counter>,
    pub(crate) watch: WatchMetrics,
    pub(crate) keys: KeyMetrics,
    pub(crate) budgets: BudgetMetrics,
    pub(crate) prisms: PrismMetrics,
}

/// A label and its value.
type Label = [(&'static str, &'static str); 1];

impl Default for ServiceMetrics {
    fn default() -> Self {
        Self {
            model_calls: Family::default(),
            model_call_duration: Histogram::new(BUCKETS),
            model_requests: Counter::default(),
            model_tokens: Family::default(),
            model_cost: Counter::default(),
            texts_truncated: Counter::default(),
            results_saved: Family::default(),
            saves_failed: Counter::default(),
            repeats_waiting: Gauge::default(),
            results_purged: Counter::default(),
            retention_refused: Family::default(),
            watch: WatchMetrics::default(),
            keys: KeyMetrics::default(),
            budgets: BudgetMetrics::default(),
            prisms: PrismMetrics::default(),
        }
    }
}

impl ServiceMetrics {
    /// Adds the metrics to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "refract_model_calls",
            "Calls to the model by outcome: answered, or the kind of failure",
            self.model_calls.clone(),
        );
        registry.register(
            "refract_model_call_duration_seconds",
            "Time from the first attempt at the model to its last answer",
            self.model_call_duration.clone(),
        );
        self.register_usage(registry);
        registry.register(
            "refract_results_saved",
            "Results saved by status",
            self.results_saved.clone(),
        );
        registry.register(
            "refract_result_saves_failed",
            "Attempts to save a result that failed and were followed by another",
            self.saves_failed.clone(),
        );
        registry.register(
            "refract_repeats_waiting",
            "Calls that wait for the first call with their idempotency key",
            self.repeats_waiting.clone(),
        );
        registry.register(
            "refract_results_purged",
            "Results that this node deleted because of their age",
            self.results_purged.clone(),
        );
        // both labels exist before the first event, so that an alert sees the count rise
        for reason in ["clock", "share"] {
            self.retention_refused(reason, 0);
        }
        registry.register(
            "refract_retention_refused",
            "Rounds of purging by age that deleted nothing, since the clock or the share of results \
             to delete is not plausible",
            self.retention_refused.clone(),
        );
        self.watch.register(registry);
        self.keys.register(registry);
        self.budgets.register(registry);
        self.prisms.register(registry);
    }

    /// Adds the metrics of what model servers report about their requests.
    fn register_usage(&self, registry: &mut Registry) {
        registry.register(
            "refract_model_requests",
            "Requests to the model, whatever the number of attempts",
            self.model_requests.clone(),
        );
        registry.register(
            "refract_model_tokens",
            "Tokens as model servers report them: input, cached (most servers count these among \
             the input), output, and cache_written by servers that count them apart",
            self.model_tokens.clone(),
        );
        registry.register(
            "refract_model_cost",
            "Cost of model requests as their hosts report it, in the currency of the host",
            self.model_cost.clone(),
        );
        registry.register(
            "refract_model_texts_truncated",
            "Calls whose text the model server cut without an error, by its count of tokens",
            self.texts_truncated.clone(),
        );
    }

    /// Counts a request to the model by its outcome, `answered` or the kind of failure, the time it
    /// took, and what the model server reported.
    pub(crate) fn model_asked(&self, outcome: &'static str, took: Duration, report: &ModelReport) {
        let asked = self.model_calls.get_or_create(&[("outcome", outcome)]);
        asked.inc();
        self.model_call_duration.observe(took.as_secs_f64());
        self.model_requests.inc_by(report.requests.into());
        for (kind, tokens) in [
            ("input", report.input_tokens),
            ("cached", report.cached_tokens),
            ("output", report.output_tokens),
            ("cache_written", report.cache_written_tokens),
        ] {
            if let Some(tokens) = tokens {
                let counter = self.model_tokens.get_or_create(&[("kind", kind)]);
                counter.inc_by(tokens);
            }
        }
        if let Some(cost) = report.cost {
            self.model_cost.inc_by(cost.to_f64());
        }
        if report.truncated_to.is_some() {
            self.texts_truncated.inc();
        }
    }

    /// Counts a saved result by its status.
    pub(crate) fn result_saved(&self, status: &'static str) {
        let saved = self.results_saved.get_or_create(&[("status", status)]);
        saved.inc();
    }

    /// Counts a call as waiting for the first call with its idempotency key, until the value is
    /// dropped.
    pub(crate) fn repeat_waits(&self) -> RepeatWaiting {
        self.repeats_waiting.inc();
        RepeatWaiting(self.repeats_waiting.clone())
    }

    /// Counts results that were purged by age.
    pub(crate) fn results_purged(&self, results: u64) {
        self.results_purged.inc_by(results);
    }

    /// Counts refused rounds of purging by age, by the kind of the reason.
    pub(crate) fn retention_refused(&self, reason: &'static str, rounds: u64) {
        let refused = &self.retention_refused;
        refused.get_or_create(&[("reason", reason)]).inc_by(rounds);
    }

    /// Counts a failed attempt to save a result that is followed by another attempt.
    pub(crate) fn save_failed(&self) {
        self.saves_failed.inc();
    }
}

/// A call that waits for the first call with its idempotency key.
pub(crate) struct RepeatWaiting(Gauge);

impl Drop for RepeatWaiting {
    fn drop(&mut self) {
        self.0.dec();
    }
}

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
