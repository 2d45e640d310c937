//! Metrics of the parts below the use cases: the model's requests and the database's connections.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::TypedMetric;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use refract_model_gateway::{ModelGateway, ServerUse};
use refract_persistence::{ConnectionUse, Database};

use crate::Refract;

/// Adds the gateway's requests to a registry; they are counted at each scrape.
pub fn register_model(registry: &mut Registry, gateway: &ModelGateway) {
    registry.register_collector(Box::new(ModelCollector(gateway.clone())));
}

/// Adds the database's connections to a registry; they are counted at each scrape.
pub fn register_database(registry: &mut Registry, refract: &Refract) {
    registry.register_collector(Box::new(DatabaseCollector(refract.database.clone())));
}

#[derive(Debug)]
struct ModelCollector(ModelGateway);

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
                "Model requests that wait for the pace of their server or for a free permit.",
                self.0.waiting(),
            ),
        ];
        encode_gauges(&mut encoder, gauges)?;
        encode_servers(&mut encoder, &self.0.servers())
    }
}

/// Encodes the use of each model server, by host and port.
fn encode_servers(
    encoder: &mut DescriptorEncoder<'_>,
    servers: &[ServerUse],
) -> Result<(), std::fmt::Error> {
    if servers.is_empty() {
        return Ok(());
    }
    encode_each(
        encoder,
        "refract_model_server_requests",
        "Requests sent to a model server, each attempt counted.",
        servers,
        |server| ConstCounter::new(server.requests),
    )?;
    encode_each(
        encoder,
        "refract_model_server_failures",
        "Requests that found a model server down, too slow, overloaded (429) or failing (5xx).",
        servers,
        |server| ConstCounter::new(server.failures),
    )?;
    encode_each(
        encoder,
        "refract_model_server_requests_in_flight",
        "Requests that a model server of the list is working on.",
        servers,
        |server| ConstGauge::new(i64::try_from(server.in_flight).unwrap_or(i64::MAX)),
    )?;
    encode_each(
        encoder,
        "refract_model_server_requests_waiting",
        "Requests that wait for the pace of a model server.",
        servers,
        |server| ConstGauge::new(i64::try_from(server.waiting).unwrap_or(i64::MAX)),
    )?;
    let paced: Vec<ServerUse> = servers
        .iter()
        .filter(|server| server.learned_per_minute.is_some())
        .cloned()
        .collect();
    if !paced.is_empty() {
        encode_each(
            encoder,
            "refract_model_server_learned_requests_per_minute",
            "Requests a minute that a model server is seen to take, after it refused some (429 or 529).",
            &paced,
            |server| {
                let learned = server.learned_per_minute.unwrap_or_default();
                ConstGauge::new(i64::try_from(learned).unwrap_or(i64::MAX))
            },
        )?;
    }
    for (name, help) in [
        (
            "refract_model_server_ejected",
            "Whether a model server has failed repeatedly and gets no requests but probes: 1, else 0.",
        ),
        (
            "refract_model_server_left_alone",
            "Deprecated: use refract_model_server_ejected. Removed in the next release.",
        ),
    ] {
        encode_each(encoder, name, help, servers, |server| {
            ConstGauge::new(i64::from(server.is_ejected))
        })?;
    }
    Ok(())
}

/// Encodes one metric of each model server.
fn encode_each<M: EncodeMetric + TypedMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    servers: &[ServerUse],
    value: impl Fn(&ServerUse) -> M,
) -> Result<(), std::fmt::Error> {
    let mut metric = encoder.encode_descriptor(name, help, None, M::TYPE)?;
    for server in servers {
        let labels = [("server", server.name.as_str())];
        value(server).encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
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
                "Upper bound on the connections of this node to the database.",
                allowed,
            ),
            (
                "refract_database_connections_of_threads",
                "Connections that belong to a worker thread, whose calls share them.",
                of_threads,
            ),
            (
                "refract_database_connections_leased",
                "Connections of the pool that a query uses now.",
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
