//! The metrics of the HTTP API: requests, their durations, calls in flight, whether the node stops.

use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use refract_http_serving::{BodyBudget, Lifecycle};

/// Upper bounds of the duration buckets in seconds, from a fast read to a create whose model request
/// was attempted twice.
const SECONDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 40.0,
];

/// The API's own metrics. Clones share their counters.
#[derive(Clone)]
pub(crate) struct HttpMetrics {
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabel, Histogram, fn() -> Histogram>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: &'static str,
}

impl HttpMetrics {
    /// Adds the API's metrics to a registry.
    pub(crate) fn register(
        registry: &mut Registry,
        lifecycle: Lifecycle,
        budget: BodyBudget,
    ) -> Self {
        let metrics = Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(SECONDS)),
        };
        registry.register(
            "refract_http_requests",
            "Requests to the API by route and status; 499 when the client did not wait, 503 also when \
             the stopping node cut the call off",
            metrics.requests.clone(),
        );
        registry.register(
            "refract_http_request_duration_seconds",
            "Time from a request's head to its answer by route",
            metrics.durations.clone(),
        );
        registry.register_collector(Box::new(LifecycleCollector(lifecycle)));
        registry.register_collector(Box::new(BudgetCollector(budget)));
        metrics
    }

    /// Counts a finished request.
    pub(crate) fn count(&self, route: &'static str, status: u16, took: Duration) {
        self.requests
            .get_or_create(&RequestLabels { route, status })
            .inc();
        self.durations
            .get_or_create(&RouteLabel { route })
            .observe(took.as_secs_f64());
    }
}

#[derive(Debug)]
struct LifecycleCollector(Lifecycle);

impl Collector for LifecycleCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let gauges = [
            (
                "refract_calls_in_flight",
                "Calls in progress, including calls whose client has disconnected.",
                self.0.calls_in_flight(),
            ),
            (
                "refract_stopping",
                "1 since this node was told to stop, 0 before.",
                usize::from(self.0.is_stopping()),
            ),
        ];
        encode_gauges(encoder, gauges)
    }
}

#[derive(Debug)]
struct BudgetCollector(BodyBudget);

impl Collector for BudgetCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let gauges = [
            (
                "refract_body_bytes_reserved",
                "Bytes that bodies and forms under way, and pages made of forms, have reserved.",
                self.0.held_bytes(),
            ),
            (
                "refract_bodies_waiting",
                "Bodies, forms and pages that wait for room in the budget of bytes.",
                self.0.waiting(),
            ),
        ];
        encode_gauges(encoder, gauges)
    }
}

fn encode_gauges<const N: usize>(
    mut encoder: DescriptorEncoder<'_>,
    gauges: [(&str, &str, usize); N],
) -> Result<(), std::fmt::Error> {
    for (name, help, value) in gauges {
        let gauge = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX)).encode(gauge)?;
    }
    Ok(())
}
