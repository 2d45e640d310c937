//! Metrics of saved results by prism.
//!
//! A create adds to a handful of atomic numbers. They are named at a scrape: a prism's slug is known
//! to a call, its account's name is not, and is looked up later.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::registry::Registry;
use refract_domain::ids::PrismId;
use refract_domain::result::Cost;
use refract_model_gateway::ModelReport;

/// The most prisms of a node with metrics: none of them has more than 2,000 series. Results of
/// further prisms are only in the metrics of all prisms.
const MOST_PRISMS: usize = 500;
/// Billionths of a billionth in a billionth.
const ATTOS_IN_NANO: u128 = 1_000_000_000;

/// What saved results used and how they ended, by prism, since this node started.
#[derive(Clone, Default)]
pub(crate) struct PrismMetrics(Arc<RwLock<HashMap<PrismId, Arc<PrismUse>>>>);

/// What is counted of a saved result.
pub(crate) struct SavedUse<'a> {
    /// The prism.
    pub(crate) prism: PrismId,
    /// Whether the model answered.
    pub(crate) is_ok: bool,
    /// Whether a Yes / No of the lens is unsure.
    pub(crate) is_unsure: bool,
    /// What the model's server reported.
    pub(crate) report: &'a ModelReport,
}

/// The account's name and the slug of a prism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeriesName {
    pub(super) account: String,
    pub(super) slug: String,
}

/// The counts of a prism, and its name once it was looked up.
#[derive(Default)]
struct PrismUse {
    name: OnceLock<SeriesName>,
    ok: AtomicU64,
    failed: AtomicU64,
    unsure: AtomicU64,
    requests: AtomicU64,
    /// In the order of [`KINDS`].
    tokens: [AtomicU64; 4],
    /// Whole billionths.
    cost_nanos: AtomicU64,
    /// The rest, in billionths of these.
    cost_attos: AtomicU64,
}

/// The kinds of tokens, as the metrics of all prisms name them.
const KINDS: [&str; 4] = ["input", "cached", "output", "cache_written"];

impl PrismMetrics {
    /// Adds the metrics to a registry.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(self.clone()));
    }

    /// Counts a saved result.
    pub(crate) fn saved(&self, saved: &SavedUse<'_>) {
        let Some(series) = self.series(saved.prism) else {
            return;
        };
        let status = if saved.is_ok {
            &series.ok
        } else {
            &series.failed
        };
        status.fetch_add(1, Ordering::Relaxed);
        series
            .unsure
            .fetch_add(saved.is_unsure.into(), Ordering::Relaxed);
        let report = saved.report;
        series
            .requests
            .fetch_add(report.requests.into(), Ordering::Relaxed);
        let tokens = [
            report.input_tokens,
            report.cached_tokens,
            report.output_tokens,
            report.cache_written_tokens,
        ];
        for (count, tokens) in series.tokens.iter().zip(tokens) {
            if let Some(tokens) = tokens {
                count.fetch_add(tokens, Ordering::Relaxed);
            }
        }
        if let Some(cost) = report.cost {
            let attos = cost.attos();
            for (count, part) in [
                (&series.cost_nanos, attos / ATTOS_IN_NANO),
                (&series.cost_attos, attos % ATTOS_IN_NANO),
            ] {
                count.fetch_add(u64::try_from(part).unwrap_or_default(), Ordering::Relaxed);
            }
        }
    }

    /// The prisms whose names are not known yet.
    pub(super) fn unnamed(&self) -> Vec<PrismId> {
        let prisms = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let unnamed = prisms.iter();
        let unnamed = unnamed.filter(|(_, series)| series.name.get().is_none());
        unnamed.map(|(prism, _)| *prism).collect()
    }

    /// Names a prism.
    pub(super) fn name(&self, prism: PrismId, name: SeriesName) {
        let prisms = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = prisms.get(&prism) {
            // a prism's slug never changes
            let _ = series.name.set(name);
        }
    }

    /// The series of a prism; `None` beyond the most prisms.
    fn series(&self, prism: PrismId) -> Option<Arc<PrismUse>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = known.get(&prism) {
            return Some(Arc::clone(series));
        }
        if known.len() >= MOST_PRISMS {
            return None;
        }
        drop(known);
        let mut prisms = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(prisms.entry(prism).or_default()))
    }

    /// Every named prism, by account and slug.
    fn named(&self) -> Vec<Arc<PrismUse>> {
        let prisms = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let named = prisms.values().filter(|series| series.name.get().is_some());
        let mut named: Vec<_> = named.cloned().collect();
        named.sort_by(|one, other| one.labels().cmp(&other.labels()));
        named
    }
}

impl PrismUse {
    fn cost(&self) -> Cost {
        let part = |count: &AtomicU64| u128::from(count.load(Ordering::Relaxed));
        Cost::from_attos(part(&self.cost_nanos) * ATTOS_IN_NANO + part(&self.cost_attos))
    }

    /// The labels; empty ones before the prism is named.
    fn labels(&self) -> [(&'static str, &str); 2] {
        let name = self.name.get();
        let (account, slug) = name.map_or(("", ""), |name| (&name.account, &name.slug));
        [("account", account), ("prism", slug)]
    }

    /// The labels with one more.
    fn labels_with<'a>(
        &'a self,
        label: &'static str,
        value: &'a str,
    ) -> [(&'static str, &'a str); 3] {
        let [account, prism] = self.labels();
        [account, prism, (label, value)]
    }
}

impl fmt::Debug for PrismMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrismMetrics")
    }
}

impl Collector for PrismMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let named = self.named();
        if named.is_empty() {
            return Ok(());
        }
        let count = |count: &AtomicU64| ConstCounter::new(count.load(Ordering::Relaxed));
        let help = "Results saved by this node, by prism and status.";
        let mut metric =
            encoder.encode_descriptor("refract_prism_results", help, None, MetricType::Counter)?;
        for series in &named {
            for (status, results) in [("ok", &series.ok), ("failed", &series.failed)] {
                let labels = series.labels_with("status", status);
                count(results).encode(metric.encode_family(&labels)?)?;
            }
        }
        let help =
            "Results saved by this node in which a Yes / No of the lens was unsure, by prism.";
        let mut metric = encoder.encode_descriptor(
            "refract_prism_unsure_results",
            help,
            None,
            MetricType::Counter,
        )?;
        for series in &named {
            count(&series.unsure).encode(metric.encode_family(&series.labels())?)?;
        }
        let help = "Requests to the model for results saved by this node, by prism.";
        let mut metric = encoder.encode_descriptor(
            "refract_prism_model_requests",
            help,
            None,
            MetricType::Counter,
        )?;
        for series in &named {
            count(&series.requests).encode(metric.encode_family(&series.labels())?)?;
        }
        let help = "Tokens as model servers report them for results saved by this node, by prism.";
        let mut metric = encoder.encode_descriptor(
            "refract_prism_model_tokens",
            help,
            None,
            MetricType::Counter,
        )?;
        for series in &named {
            for (kind, tokens) in KINDS.into_iter().zip(&series.tokens) {
                let labels = series.labels_with("kind", kind);
                count(tokens).encode(metric.encode_family(&labels)?)?;
            }
        }
        let help = "Cost of results saved by this node, in the currency of the host, by prism.";
        let mut metric = encoder.encode_descriptor(
            "refract_prism_model_cost",
            help,
            None,
            MetricType::Counter,
        )?;
        for series in &named {
            let cost = ConstCounter::new(series.cost().to_f64());
            cost.encode(metric.encode_family(&series.labels())?)?;
        }
        Ok(())
    }
}
