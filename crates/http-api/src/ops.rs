//! The operator's listener: `/healthz`, `/readyz` and `/metrics`, with the metrics of the HTTP API.
//! It never returns data of a caller.
//!
//! The text formats of `/metrics`.
//!
//! `prometheus-client` encodes `OpenMetrics`. Prometheus' older text format, which every scraper
//! and checker reads, gives a counter's family the name of its samples, with `_total`;
//! `OpenMetrics` names the family without the suffix.

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
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use refract_http_serving::{BodyBudget, Lifecycle, RequestMetrics};
use refract_service::Refract;

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

/// A text format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpositionFormat {
    /// Prometheus' text format 0.0.4.
    Prometheus,
    /// `OpenMetrics` 1.0.
    OpenMetrics,
}

impl ExpositionFormat {
    /// The format that a scraper prefers; Prometheus' text format when it names neither.
    fn preferred(accept: &Accept) -> Self {
        let ranked = accept.ranked().into_iter();
        let mut known = ranked.filter_map(|media_type| match media_type.essence_str() {
            "application/openmetrics-text" => Some(Self::OpenMetrics),
            "text/plain" => Some(Self::Prometheus),
            _ => None,
        });
        known.next().unwrap_or(Self::Prometheus)
    }

    /// The media type of the format.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// Encodes every metric of a registry.
    ///
    /// # Errors
    /// When a collector cannot encode its metrics.
    pub(crate) fn encode(self, registry: &Registry) -> Result<String, std::fmt::Error> {
        let mut exposition = String::new();
        match self {
            Self::Prometheus => {
                text::encode_registry(&mut exposition, registry)?;
                Ok(with_suffixed_counters(&exposition))
            }
            Self::OpenMetrics => {
                text::encode(&mut exposition, registry)?;
                Ok(exposition)
            }
        }
    }
}

/// `OpenMetrics` text with the suffix `_total` added to the families of counters.
fn with_suffixed_counters(exposition: &str) -> String {
    let counters = exposition.lines().filter_map(counter_name);
    counters.fold(exposition.to_owned(), |text, name| {
        ["HELP", "TYPE"].iter().fold(text, |text, keyword| {
            text.replace(
                &format!("# {keyword} {name} "),
                &format!("# {keyword} {name}_total "),
            )
        })
    })
}

fn counter_name(line: &str) -> Option<&str> {
    line.strip_prefix("# TYPE ")?.strip_suffix(" counter")
}

#[cfg(test)]
mod tests;
