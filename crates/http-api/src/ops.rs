//! The operator's listener: `/healthz`, `/readyz` and `/metrics`. It never returns data of a
//! caller.
//!
//! The metrics of the HTTP API: requests, their durations, calls in flight, whether the node is
//! stopping.

pub(crate) mod exposition;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    Accept, CACHE_CONTROL, CONTENT_TYPE, HOST, Header as _, HeaderValue, VARY,
};
use actix_web::http::uri::Authority;
use actix_web::middleware::Next;
use actix_web::{HttpRequest, HttpResponse, Route, web};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use refract_http_serving::{BodyBudget, Lifecycle, RequestMetrics};
use refract_service::Refract;

use crate::ops::exposition::ExpositionFormat;

/// Upper bound on the database ping behind `/readyz`.
const PING_TIMEOUT: Duration = Duration::from_secs(2);

/// State of the operator's endpoints.
#[derive(Clone)]
pub(crate) struct Operations {
    pub(crate) refract: Refract,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) registry: Arc<Registry>,
}

/// Whether the address is a loopback address, which only programs on this machine reach.
pub(crate) fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Accepts only requests whose `Host` is an IP address or `localhost`, against DNS rebinding: on a
/// loopback address, any other host comes from a page in a browser of this machine, whose name was
/// pointed here to read the response. A page cannot set the header `Host`, but can set those of
/// proxies.
pub(crate) async fn refuse_other_hosts(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> actix_web::Result<ServiceResponse<BoxBody>> {
    if request.headers().get_all(HOST).all(is_local) {
        let response = next.call(request).await?;
        return Ok(response.map_into_boxed_body());
    }
    let refusal = HttpResponse::MisdirectedRequest()
        .content_type("text/plain")
        .body("This listener answers only to an IP address or localhost as the host.\n");
    Ok(request.into_response(refusal))
}

fn is_local(host: &HeaderValue) -> bool {
    let Ok(authority) = Authority::try_from(host.as_bytes()) else {
        return false;
    };
    let host = authority.host().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok()
}

impl Operations {
    /// Adds the three endpoints to an actix application.
    pub(crate) fn configure(self, app: &mut web::ServiceConfig) {
        let Self {
            refract,
            lifecycle,
            registry,
        } = self;
        let readyz = move || ready(refract.clone(), lifecycle.clone());
        let metrics =
            move |request: HttpRequest| std::future::ready(exposition(&registry, &request));
        app.route("/healthz", get_or_head().to(|| async { health(true) }))
            .route("/readyz", get_or_head().to(readyz))
            .route("/metrics", get_or_head().to(metrics));
    }
}

fn get_or_head() -> Route {
    use actix_web::guard::{Any, Get, Head};
    web::route().guard(Any(Get()).or(Head()))
}

async fn ready(refract: Refract, lifecycle: Lifecycle) -> HttpResponse {
    let answers = tokio::time::timeout(PING_TIMEOUT, refract.is_ready());
    health(!lifecycle.is_stopping() && answers.await.unwrap_or(false))
}

fn health(is_good: bool) -> HttpResponse {
    let (mut response, words) = if is_good {
        (HttpResponse::Ok(), "ok\n")
    } else {
        (HttpResponse::ServiceUnavailable(), "not ready\n")
    };
    response
        .insert_header((CACHE_CONTROL, "no-store"))
        .content_type("text/plain")
        .body(words)
}

fn exposition(registry: &Registry, request: &HttpRequest) -> HttpResponse {
    let accept = Accept::parse(request).unwrap_or_else(|_| Accept::star());
    let format = ExpositionFormat::preferred(&accept);
    match format.encode(registry) {
        Ok(text) => HttpResponse::Ok()
            .insert_header((CONTENT_TYPE, format.content_type()))
            .insert_header((VARY, "accept"))
            .body(text),
        Err(error) => {
            tracing::error!(%error, "the metrics could not be encoded");
            HttpResponse::InternalServerError().finish()
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_address_is_for_this_machine() {
        for address in [
            "127.0.0.1:9090",
            "127.0.0.9:1",
            "[::1]:1",
            "[::ffff:127.0.0.1]:1",
        ] {
            assert!(is_loopback(address.parse().unwrap()), "{address}");
        }
        for address in ["0.0.0.0:9090", "[::]:9090", "10.0.0.7:9090"] {
            assert!(!is_loopback(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn an_ip_address_and_localhost_are_local_hosts() {
        for host in [
            "localhost",
            "LocalHost:9090",
            "127.0.0.1",
            "127.0.0.1:9090",
            "[::1]:9090",
            "10.0.0.7:80",
        ] {
            assert!(is_local(&HeaderValue::from_static(host)), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com:9090",
            "127.0.0.1.example.com",
            "localhost@example.com",
            "1",
            "::1",
            "localhost, example.com",
        ] {
            assert!(!is_local(&HeaderValue::from_static(host)), "{host}");
        }
    }
}
