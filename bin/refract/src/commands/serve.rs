//! `refract serve`: runs the API until SIGTERM or SIGINT.

pub(super) mod descriptors;
mod retention;
mod traces;

use std::net::TcpListener;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use prometheus_client::registry::Registry;
use refract_app::AppSettings;
use refract_http_api::HttpSettings;
use refract_http_serving::{BodyBudget, Drained, Lifecycle, ProcessCollector, RequestMetrics};
use refract_model_gateway::ModelGateway;
use refract_service::Refract;
use refract_service::results::{RetryPolicy, ServiceMetrics, register_database, register_model};
use refract_terminal::arguments::cannot_be_used;
use refract_terminal::settings::{self, AppArgs, DatabaseArgs, ModelArgs, ServeArgs};
use refract_terminal::{StopSignals, arguments, output};
use refract_traces::{TraceExport, Traces};
use tokio::sync::{oneshot, watch};

use self::retention::RetentionArgs;
use self::traces::TraceArgs;
use crate::build_info;
use crate::listeners::{self, AppListener};

/// The arguments of `refract serve`.
#[derive(Args)]
pub(crate) struct ServeCommand {
    #[command(flatten)]
    serve: ServeArgs,
    /// Milliseconds that a node goes on taking calls after SIGTERM or SIGINT, while `/readyz` is 503
    ///
    /// Longer than a load balancer needs to notice, so that it sends no call into a stopping node.
    #[arg(
        long,
        env = "REFRACT_SHUTDOWN_DELAY_MS",
        default_value = "0",
        value_parser = arguments::milliseconds_from_0,
        value_name = "MS",
        help_heading = "Server"
    )]
    shutdown_delay_ms: usize,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    app: AppArgs,
    #[command(flatten)]
    retention: RetentionArgs,
    #[command(flatten)]
    traces: TraceArgs,
}

impl ServeCommand {
    /// Runs `refract serve`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let gateway = ModelGateway::new(self.model.settings()?)?;
        let export = self.traces.export()?;
        let counts = ServiceMetrics::default();
        let workers = self.serve.workers();
        let shares = descriptors::share(
            workers.get(),
            self.app.is_on(),
            self.serve.ops_listen != "off",
            &database.settings(),
        )?;
        let http = http_settings(
            &self.serve,
            &self.app,
            listeners::bind,
            shares.api,
            registry(&gateway, &counts),
            export.as_ref().map(TraceExport::traces).unwrap_or_default(),
        )?;
        // reports an invalid address before the database is opened
        self.app.url()?;
        // a port of 0 has been replaced by a free port
        let api = http.listen.local_addr()?;
        let api_url = self.serve.api_url(api)?;
        let refract = refract_terminal::open_when_up(&database.settings()).await?;
        let refract = refract.with_model(gateway.model()).with_metrics(counts);
        let app = listeners::bind_app(&self.app)?
            .map(|listener| AppListener::of(listener, &self.app, api_url, shares.app))
            .transpose()?;
        let ops = http.ops.as_ref().map(TcpListener::local_addr).transpose()?;
        // watched before the node reports that it listens, so that every later signal stops it in
        // order
        let delay = settings::milliseconds(self.shutdown_delay_ms);
        let stop = announced_stop(http.lifecycle.clone(), delay)?;
        let app_address = app.as_ref().map(|app| app.listener.local_addr());
        let app_address = app_address.transpose()?;
        tracing::info!(
            %api,
            ops = ops.map(tracing::field::display),
            app = app_address.map(tracing::field::display),
            app_url = app.as_ref().map(|app| tracing::field::display(&app.url)),
            model = gateway.describe(),
            "listening"
        );
        if gateway.is_for_trying_only() {
            tracing::warn!("the built-in scorer answers: it is for trying things only");
        }
        let (draining, drains) = oneshot::channel::<()>();
        let purging = self.retention.start(&refract, async {
            // a server that ended by itself has dropped the sender
            let _ = drains.await;
        });
        let stop = async {
            stop.await;
            let _ = draining.send(());
        };
        let grace = http.grace;
        let served = serve(http, app, refract, &gateway, stop).await;
        retention::ended(purging).await;
        if let Some(export) = export {
            traces::end(export, grace).await;
        }
        tracing::info!("stopped");
        served
    }
}

/// The API's address, limits and listeners; `bind` makes a listener from a setting and its value.
pub(crate) fn http_settings(
    serve: &ServeArgs,
    app: &AppArgs,
    bind: fn(&str, &str) -> anyhow::Result<TcpListener>,
    connections: usize,
    registry: Registry,
    traces: Traces,
) -> anyhow::Result<HttpSettings> {
    Ok(HttpSettings {
        listen: bind("REFRACT_LISTEN", &serve.listen)?,
        ops: match serve.ops_listen.as_str() {
            "off" => None,
            address => Some(bind("REFRACT_OPS_LISTEN", address)?),
        },
        workers: serve.workers(),
        connections,
        grace: serve.grace(),
        lifecycle: Lifecycle::named("api"),
        budget: BodyBudget::of_mib(serve.body_budget_mib)
            .with_context(|| cannot_be_used("REFRACT_BODY_BUDGET_MIB"))?,
        registry,
        proxies: app
            .app_trusted_proxies
            .parse()
            .with_context(|| cannot_be_used("REFRACT_APP_TRUSTED_PROXIES"))?,
        traces,
    })
}

/// The registry behind `/metrics`: each crate counts its own work, and the binary combines the
/// counts.
pub(crate) fn registry(gateway: &ModelGateway, counts: &ServiceMetrics) -> Registry {
    let mut registry = Registry::default();
    counts.register(&mut registry);
    register_model(&mut registry, gateway);
    registry.register_collector(Box::new(ProcessCollector {
        version: env!("CARGO_PKG_VERSION"),
        commit: build_info::COMMIT,
    }));
    registry
}

/// Serves the API and the app until `stop`, then lets the calls in flight finish.
pub(crate) async fn serve(
    mut http: HttpSettings,
    app: Option<AppListener>,
    refract: Refract,
    gateway: &ModelGateway,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<ExitCode> {
    register_database(&mut http.registry, &refract);
    let retry_policy = RetryPolicy::within(http.grace);
    let refract = refract.with_retry_policy(retry_policy.clone());
    let threads = http.workers;
    let (stopping, mut stopped) = watch::channel(false);
    let app = app.map(|app| {
        // the app shares the API's database connections, so it costs nothing while only the API is
        // called
        let refract = refract.clone();
        let make_refract = move || refract.for_this_thread(None);
        let settings = app_settings(app, &mut http, gateway);
        refract_app::serve(settings, make_refract, async move {
            // an API that ended by itself ends the app too
            let _ = stopped.wait_for(|is_stopping| *is_stopping).await;
        })
    });
    let make_refract = {
        let refract = refract.clone();
        move || refract.for_this_thread(Some(threads))
    };
    let api = refract_http_api::serve(http, make_refract, async move {
        stop.await;
        retry_policy.drain();
        // nobody receives it if the app is off
        let _ = stopping.send(true);
    });
    let both = async { tokio::join!(api, with_failure_logged(app)) };
    let (served, app_drained) = tokio::select! {
        served = both => served,
        never = refract.keys().save_uses_regularly() => match never {},
    };
    refract.keys().save_uses().await;
    match served.context("the server failed")?.and(app_drained) {
        Drained::Clean => Ok(ExitCode::SUCCESS),
        Drained::Cut(calls) => {
            let calls = if calls == 1 {
                "1 call".to_owned()
            } else {
                format!("{calls} calls")
            };
            let message = format!("error: {calls} did not finish within the grace time");
            Ok(output::fail_with(&message))
        }
    }
}

/// The app's settings, given the API's. Both register their metrics in one registry.
fn app_settings(app: AppListener, http: &mut HttpSettings, gateway: &ModelGateway) -> AppSettings {
    AppSettings {
        listen: app.listener,
        connections: app.connections,
        url: app.url,
        api_url: app.api_url.to_string(),
        is_for_trying_only: gateway.is_for_trying_only(),
        grace: http.grace,
        budget: http.budget.clone(),
        proxies: http.proxies.clone(),
        traces: http.traces.clone(),
        metrics: RequestMetrics::register(&mut http.registry, "refract_app", "the app"),
    }
}

/// Waits for the app to end, and logs its failure. The API continues without the app.
async fn with_failure_logged(
    app: Option<impl Future<Output = std::io::Result<Drained>>>,
) -> Drained {
    let Some(app) = app else {
        return Drained::Clean;
    };
    app.await.unwrap_or_else(|error| {
        tracing::error!(%error, "the app is no longer served");
        Drained::Clean
    })
}

/// Waits for the first SIGTERM or SIGINT. With a delay, announces the stop first; a second signal
/// cuts the delay short.
pub(crate) fn announced_stop(
    lifecycle: Lifecycle,
    delay: Duration,
) -> anyhow::Result<impl Future<Output = ()>> {
    let mut signals = StopSignals::watch()?;
    Ok(async move {
        let signal = signals.next_name().await;
        if delay.is_zero() {
            tracing::info!(signal, "told to stop");
            return;
        }
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(signal, delay_ms, "told to stop: calls are taken until then");
        lifecycle.announce_stop();
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            signal = signals.next_name() => tracing::info!(signal, "told to stop at once"),
        }
    })
}
