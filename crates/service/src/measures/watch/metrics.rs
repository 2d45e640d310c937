//! Metrics of drift: one series for each question of the prisms that were looked at.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use refract_domain::prism::Slug;

use super::prism_watch::PrismWatch;

/// The most series of a metric, so that a database with thousands of prisms does not fill the memory
/// of the monitoring system.
const MOST_SERIES: usize = 2_000;

/// The labels of a prism: its account's name and its slug.
pub(super) type PrismLabels = [(&'static str, String); 2];
/// The labels of a prism's question.
type QuestionLabels = [(&'static str, String); 3];

/// What the node that watches found, by prism and question. Other nodes export nothing.
#[derive(Clone, Default)]
pub(crate) struct WatchMetrics {
    alarm: Family<QuestionLabels, Gauge>,
    psi: Family<QuestionLabels, Gauge<f64, AtomicU64>>,
    new_models: Family<PrismLabels, Gauge>,
}

/// The series of a prism.
#[derive(Clone, Debug, Default)]
pub(super) struct PrismSeries(Vec<QuestionLabels>);

impl PrismSeries {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl WatchMetrics {
    /// Adds the metrics to a registry.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "refract_watch_alarm",
            "Whether a question's answers of the last day differ from those before by more than \
             chance: 1, else 0",
            self.alarm.clone(),
        );
        registry.register(
            "refract_watch_psi",
            "Population stability index of a question's probabilities, the last day against the 28 \
             days before",
            self.psi.clone(),
        );
        registry.register(
            "refract_watch_new_models",
            "Models that answered a prism in the last day, but not in the 28 days before",
            self.new_models.clone(),
        );
    }

    /// Sets the series of a prism in place of earlier ones; sets none beyond the most series, of
    /// which `others` belong to other prisms.
    pub(super) fn set(
        &self,
        earlier: &PrismSeries,
        others: usize,
        prism: &PrismLabels,
        watch: &PrismWatch,
    ) -> PrismSeries {
        for labels in &earlier.0 {
            self.alarm.remove(labels);
            self.psi.remove(labels);
        }
        if others + watch.questions.len() > MOST_SERIES {
            self.new_models.remove(prism);
            return PrismSeries::default();
        }
        let new = i64::try_from(watch.new_models().count()).unwrap_or(i64::MAX);
        self.new_models.get_or_create(prism).set(new);
        let questions = watch.questions.iter().map(|watched| {
            let [account, slug] = prism.clone();
            let labels = [
                account,
                slug,
                ("question", watched.question.key.to_string()),
            ];
            let alarm = self.alarm.get_or_create(&labels);
            alarm.set(watched.alarm.is_some().into());
            if let Some(probabilities) = watched.drift.window.probabilities {
                self.psi.get_or_create(&labels).set(probabilities.psi);
            }
            labels
        });
        PrismSeries(questions.collect())
    }

    /// Removes every series: another node watches now.
    pub(super) fn clear(&self) {
        self.alarm.clear();
        self.psi.clear();
        self.new_models.clear();
    }
}

/// The labels of a prism.
pub(super) fn prism_labels(account: &str, slug: &Slug) -> PrismLabels {
    [("account", account.to_owned()), ("prism", slug.to_string())]
}
