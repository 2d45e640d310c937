//! The metrics of a listener's requests: their number and durations.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of the duration buckets in seconds, from a fast read to a create with two attempts
/// at the model.
const SECONDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 40.0,
];

/// The metrics of the requests of one listener. Clones share their counters.
#[derive(Clone)]
pub struct RequestMetrics {
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

impl RequestMetrics {
    /// Adds the metrics of a listener to a registry: `{prefix}_requests_total` by route and status,
    /// and `{prefix}_request_duration_seconds` by route. `served` names the listener in their help
    /// texts.
    pub fn register(registry: &mut Registry, prefix: &str, served: &str) -> Self {
        let metrics = Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(SECONDS)),
        };
        registry.register(
            format!("{prefix}_requests"),
            format!(
                "Requests to {served} by route and status; 499 when the client did not wait, 503 \
                 also when the stopping node cut the call off"
            ),
            metrics.requests.clone(),
        );
        registry.register(
            format!("{prefix}_request_duration_seconds"),
            "Time from a request's head to its answer by route",
            metrics.durations.clone(),
        );
        metrics
    }

    /// Counts a finished request. `route` is a pattern and never a path: each value is a separate
    /// series.
    pub fn count(&self, route: &'static str, status: u16, took: Duration) {
        self.requests
            .get_or_create(&RequestLabels { route, status })
            .inc();
        self.durations
            .get_or_create(&RouteLabel { route })
            .observe(took.as_secs_f64());
    }
}
