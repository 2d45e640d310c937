//! What `/metrics` shows of the model: the rooms below HTTP count, only here are they joined.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use refract_answering::AnsweringMetrics;
use refract_model_gateway::ModelGateway;

/// A registry of the use cases' counts, which reads the gateway whenever it is asked.
pub(crate) fn registry(gateway: &ModelGateway, answering: &AnsweringMetrics) -> Registry {
    let mut registry = Registry::default();
    answering.register(&mut registry);
    registry.register_collector(Box::new(ModelCollector(gateway.clone())));
    registry
}

struct ModelCollector(ModelGateway);

impl std::fmt::Debug for ModelCollector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ModelCollector")
    }
}

impl Collector for ModelCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let gauges = [
            (
                "refract_model_requests_in_flight",
                "Requests that a model server is working on.",
                self.0.in_flight(),
            ),
            (
                "refract_model_requests_waiting",
                "Model requests that wait for their turn.",
                self.0.waiting(),
            ),
        ];
        for (name, help, value) in gauges {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            let metric = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
            gauge.encode(metric)?;
        }
        Ok(())
    }
}
