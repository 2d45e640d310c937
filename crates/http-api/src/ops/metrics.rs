//! The metrics of the HTTP API: requests, their durations, calls in flight, whether the node is
//! stopping.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use refract_http_serving::{BodyBudget, Lifecycle, RequestMetrics};

/// Adds the API's metrics to a registry. Returns the metrics of its requests.
pub(crate) fn register(
    registry: &mut Registry,
    lifecycle: Lifecycle,
    budget: BodyBudget,
) -> RequestMetrics {
    let requests = RequestMetrics::register(registry, "refract_http", "the API");
    registry.register_collector(Box::new(LifecycleCollector(lifecycle)));
    registry.register_collector(Box::new(BudgetCollector(budget)));
    requests
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
                "1 since this node began to shut down, 0 before.",
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
