//! The operator's listener: `/healthz`, `/readyz` and `/metrics`. It serves nothing that a caller
//! sent.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::{Accept, CACHE_CONTROL, CONTENT_TYPE, Header as _, VARY};
use actix_web::{HttpRequest, HttpResponse, Route, web};
use prometheus_client::registry::Registry;
use refract_answering::Answering;

use crate::exposition::ExpositionFormat;
use refract_http_serving::Lifecycle;

/// Upper bound on the database ping behind `/readyz`.
const PING_TIMEOUT: Duration = Duration::from_secs(2);

/// What the operator's endpoints report on.
#[derive(Clone)]
pub(crate) struct Operations {
    pub(crate) answering: Answering,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) registry: Arc<Registry>,
}

impl Operations {
    /// Adds the three endpoints to an application.
    pub(crate) fn configure(self, app: &mut web::ServiceConfig) {
        let Self {
            answering,
            lifecycle,
            registry,
        } = self;
        let readyz = move || ready(answering.clone(), lifecycle.clone());
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

async fn ready(answering: Answering, lifecycle: Lifecycle) -> HttpResponse {
    let answers = tokio::time::timeout(PING_TIMEOUT, answering.is_ready());
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
