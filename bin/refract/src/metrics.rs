//! The registry behind `/metrics`: each crate counts its own work, and the program joins the counts.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use refract_answering::AnsweringMetrics;
use refract_model_gateway::ModelGateway;
use refract_persistence::{ConnectionUse, Database};

/// A registry with the metrics of the use cases and of the gateway, which is read at each scrape.
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
        encode_gauges(&mut encoder, gauges)
    }
}

/// Adds the database's connections to a registry; they are counted at each scrape.
pub(crate) fn add_database(registry: &mut Registry, database: &Database) {
    registry.register_collector(Box::new(DatabaseCollector(database.clone())));
}

struct DatabaseCollector(Database);

impl std::fmt::Debug for DatabaseCollector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DatabaseCollector")
    }
}

impl Collector for DatabaseCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let ConnectionUse {
            allowed,
            of_threads,
            leased,
            idle,
            waiting,
        } = self.0.connection_use();
        let gauges = [
            (
                "refract_database_connections_allowed",
                "Connections to the database that this node may hold.",
                allowed,
            ),
            (
                "refract_database_connections_of_threads",
                "Connections that belong to a worker thread, whose calls share them.",
                of_threads,
            ),
            (
                "refract_database_connections_leased",
                "Connections of the pool that a query has to itself now.",
                leased,
            ),
            (
                "refract_database_connections_idle",
                "Open connections of the pool that no query uses now.",
                idle,
            ),
            (
                "refract_database_connections_waiting",
                "Queries that wait for a connection of the pool.",
                waiting,
            ),
        ];
        encode_gauges(&mut encoder, gauges)
    }
}

fn encode_gauges<const N: usize>(
    encoder: &mut DescriptorEncoder<'_>,
    gauges: [(&str, &str, usize); N],
) -> Result<(), std::fmt::Error> {
    for (name, help, value) in gauges {
        let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
        let metric = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
        gauge.encode(metric)?;
    }
    Ok(())
}
