//! The operator's listener: `/healthz`, `/readyz` and `/metrics`. Nothing of a caller's is here.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::{HttpResponse, Route, web};
use prometheus_client::registry::Registry;
use refract_answering::Answering;

use crate::exposition;
use crate::lifecycle::Lifecycle;

/// How long the database may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the operator's listener tells.
#[derive(Clone)]
pub(crate) struct Ops {
    pub(crate) answering: Answering,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) registry: Arc<Registry>,
}

impl Ops {
    /// Adds the three paths to an application.
    pub(crate) fn configure(self, app: &mut web::ServiceConfig) {
        let Self {
            answering,
            lifecycle,
            registry,
        } = self;
        let readyz = move || ready(answering.clone(), lifecycle.clone());
        let metrics = move || std::future::ready(written(&registry));
        app.route("/healthz", get_or_head().to(|| async { told(true) }))
            .route("/readyz", get_or_head().to(readyz))
            .route("/metrics", get_or_head().to(metrics));
    }
}

fn get_or_head() -> Route {
    use actix_web::guard::{Any, Get, Head};
    web::route().guard(Any(Get()).or(Head()))
}

async fn ready(answering: Answering, lifecycle: Lifecycle) -> HttpResponse {
    let answers = tokio::time::timeout(PATIENCE, answering.is_ready());
    told(!lifecycle.is_draining() && answers.await.unwrap_or(false))
}

fn told(is_so: bool) -> HttpResponse {
    let (mut response, words) = if is_so {
        (HttpResponse::Ok(), "ok\n")
    } else {
        (HttpResponse::ServiceUnavailable(), "not ready\n")
    };
    response
        .insert_header((CACHE_CONTROL, "no-store"))
        .content_type("text/plain")
        .body(words)
}

fn written(registry: &Registry) -> HttpResponse {
    match exposition::encode(registry) {
        Ok(text) => HttpResponse::Ok()
            .insert_header((CONTENT_TYPE, exposition::CONTENT_TYPE))
            .body(text),
        Err(error) => {
            tracing::error!(%error, "the metrics could not be written");
            HttpResponse::InternalServerError().finish()
        }
    }
}
