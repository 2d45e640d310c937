//! `refract serve`: runs the API until SIGTERM or SIGINT.

mod tasks;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use prometheus_client::registry::Registry;
use refract_file_runs::{FileRunWorker, WorkbookBudget, WorkerSettings};
use refract_http_api::HttpSettings;
use refract_http_serving::{BodyBudget, Drained, Lifecycle, ProcessCollector};
use refract_model_gateway::ModelGateway;
use refract_service::Refract;
use refract_service::measures::stored_retests::RetestWorker;
use refract_service::results::{RetryPolicy, ServiceMetrics, register_database, register_model};
use refract_terminal::arguments::{self, cannot_be_used};
use refract_terminal::settings::{
    self, AppArgs, DatabaseArgs, ModelArgs, RetentionArgs, ServeArgs, SignOnArgs,
};
use refract_terminal::{StopSignals, output};
use refract_traces::{TraceExport, Traces};
use tokio::sync::{oneshot, watch};

use self::tasks::TraceArgs;
use crate::listeners::{self, AppListener};

/// The arguments of `refract serve`.
#[derive(Args)]
pub struct ServeCommand {
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
    sign_on: SignOnArgs,
    #[command(flatten)]
    retention: RetentionArgs,
    #[command(flatten)]
    traces: TraceArgs,
}

impl ServeCommand {
    /// Runs `refract serve`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let delay = settings::milliseconds(self.shutdown_delay_ms);
        let node = Box::pin(self.start(database)).await?;
        // signals are watched before the node reports that it listens, so that every later signal
        // stops it gracefully
        let stop = announced_stop(node.http.lifecycle.clone(), delay)?;
        node.report()?;
        if node.app.is_some() {
            // a provider that does not answer keeps no call waiting
            let refract = node.refract.clone();
            actix_web::rt::spawn(
                async move { refract_terminal::report_first_steps(&refract).await },
            );
        }
        Box::pin(node.run(stop)).await
    }

    /// Opens the database and binds the listeners. Nothing is served before [`StartedNode::run`].
    ///
    /// # Errors
    /// A setting that cannot be used, a taken address, or a database that cannot be opened.
    pub async fn start(self, database: &DatabaseArgs) -> anyhow::Result<StartedNode> {
        let model = self.model.settings()?;
        let runs = self.app.file_runs(model.concurrency);
        let mut gateway = ModelGateway::new(model)?;
        let export = self.traces.export()?;
        let counts = ServiceMetrics::default();
        let workers = self.serve.workers();
        let shares = listeners::share_descriptors(
            workers.get(),
            self.app.is_on(),
            self.serve.ops_listen != "off",
            &database.settings(),
        )?;
        let mut http = http_settings(
            &self.serve,
            &self.app,
            listeners::bind,
            shares.api,
            export.as_ref().map(TraceExport::traces).unwrap_or_default(),
        )?;
        // reports an invalid address before the database is opened
        self.app.url()?;
        // the bound address: port 0 in the setting became a free port
        let api = http.listen.local_addr()?;
        let api_url = self.serve.api_url(api)?;
        let refract = refract_terminal::open_when_up(&database.settings()).await?;
        let refract = refract.with_gateway(&mut gateway).await?;
        // its collectors hold the gateway's model, which has to know first what was learned
        http.registry = registry(&gateway, &counts);
        let refract = refract.with_metrics(counts);
        let app = listeners::bind_app(&self.app)?
            .map(|listener| AppListener::of(listener, &self.app, api_url, shares.app))
            .transpose()?;
        let refract = match &app {
            Some(app) => refract.with_sign_in_ways(self.sign_on.ways(&app.url)?),
            None => refract,
        };
        Ok(StartedNode {
            http,
            app,
            refract,
            gateway,
            runs,
            retention: self.retention,
            export,
        })
    }
}

/// A node with an open database and bound listeners, which does not serve yet.
pub struct StartedNode {
    http: HttpSettings,
    app: Option<AppListener>,
    refract: Refract,
    gateway: ModelGateway,
    runs: WorkerSettings,
    retention: RetentionArgs,
    export: Option<TraceExport>,
}

impl StartedNode {
    /// The address of the API.
    ///
    /// # Errors
    /// The operating system does not report the address.
    pub fn api(&self) -> io::Result<SocketAddr> {
        self.http.listen.local_addr()
    }

    /// The address of the operator's listener, if there is one.
    ///
    /// # Errors
    /// The operating system does not report the address.
    pub fn ops(&self) -> io::Result<Option<SocketAddr>> {
        let ops = self.http.ops.as_ref();
        ops.map(TcpListener::local_addr).transpose()
    }

    /// The address of the app, if it is served.
    ///
    /// # Errors
    /// The operating system does not report the address.
    pub fn app(&self) -> io::Result<Option<SocketAddr>> {
        let app = self.app.as_ref();
        app.map(|app| app.listener.local_addr()).transpose()
    }

    /// Logs where the node listens and which model answers.
    fn report(&self) -> io::Result<()> {
        tracing::info!(
            api = %self.api()?,
            ops = self.ops()?.map(tracing::field::display),
            app = self.app()?.map(tracing::field::display),
            app_url = self.app.as_ref().map(|app| tracing::field::display(&app.url)),
            model = self.gateway.describe(),
            "listening"
        );
        if let Some(rule) = self.refract.people().admission() {
            tracing::info!("sign-on by the provider: {rule}");
        }
        if self.gateway.is_for_trying_only() {
            tracing::warn!("the built-in scorer answers: it is for trying things only");
        }
        Ok(())
    }

    /// Serves until `stop` resolves, then drains: calls in flight have the grace period to finish.
    ///
    /// # Errors
    /// A listener cannot be served, or a server ended by itself.
    pub async fn run(self, stop: impl Future<Output = ()>) -> anyhow::Result<ExitCode> {
        let (draining, drains) = oneshot::channel::<()>();
        let rounds = self.retention.rounds(&self.refract);
        let purging = tasks::start_retention(rounds, async {
            // an error means that a server ended by itself and dropped the sender
            let _ = drains.await;
        });
        let stop = async {
            stop.await;
            let _ = draining.send(());
        };
        let grace = self.http.grace;
        let (gateway, runs) = (&self.gateway, self.runs);
        let served = serve(self.http, self.app, self.refract, gateway, runs, stop).await;
        tasks::retention_ended(purging).await;
        if let Some(export) = self.export {
            tasks::end_traces(export, grace).await;
        }
        tracing::info!("stopped");
        served
    }
}

/// The API's address, limits and listeners; `bind` makes a listener from the name and the value of
/// a setting.
pub(crate) fn http_settings(
    serve: &ServeArgs,
    app: &AppArgs,
    bind: fn(&str, &str) -> anyhow::Result<TcpListener>,
    connections: usize,
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
        registry: Registry::default(),
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
        commit: crate::COMMIT,
    }));
    registry
}

/// Serves the API and the app until `stop`, then lets the calls in flight finish.
pub(crate) async fn serve(
    mut http: HttpSettings,
    app: Option<AppListener>,
    refract: Refract,
    gateway: &ModelGateway,
    runs: WorkerSettings,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<ExitCode> {
    register_database(&mut http.registry, &refract);
    let grace = http.grace;
    let retry_policy = RetryPolicy::within(grace);
    let refract = refract.with_retry_policy(retry_policy.clone());
    let workbooks = WorkbookBudget::of_bytes(http.budget.workbook_bytes());
    let (stopping, mut stopped) = watch::channel(false);
    let retests = RetestWorker::new(&refract, runs.concurrency);
    let retests = retests.run(stopped.clone(), grace);
    let runs = FileRunWorker::new(refract.clone(), runs, workbooks.clone()).start(stopped.clone());
    let app = app.map(|app| {
        let settings = app.settings(&mut http, gateway, workbooks);
        let shutdown = async move {
            // an API that ended by itself ends the app too
            let _ = stopped.wait_for(|is_stopping| *is_stopping).await;
        };
        refract_app::serve(settings, refract.clone(), Box::pin(shutdown))
    });
    let began = Arc::new(OnceLock::new());
    let stop_began = Arc::clone(&began);
    let shutdown = async move {
        stop.await;
        let _ = stop_began.set(Instant::now());
        retry_policy.drain();
        // sending fails if the app is off, which is fine
        let _ = stopping.send(true);
    };
    let api = refract_http_api::serve(http, refract.clone(), Box::pin(shutdown));
    let all = async { tokio::join!(api, with_failure_logged(app), retests) };
    let (served, app_drained, ()) = tokio::select! {
        served = all => served,
        never = refract.keys().run_rounds() => match never {},
        never = refract.work_in_rounds() => match never {},
    };
    // the grace time began for all at once
    let waited = began.get().map_or(Duration::ZERO, Instant::elapsed);
    runs.ended(grace.saturating_sub(waited)).await;
    refract.save_last().await;
    match served.context("the server failed")?.and(app_drained) {
        Drained::Clean => Ok(ExitCode::SUCCESS),
        Drained::Cut(calls) => {
            let noun = if calls == 1 { "call" } else { "calls" };
            let message = format!("error: {calls} {noun} did not finish within the grace time");
            Ok(output::fail_with(&message))
        }
    }
}

/// Waits for the app to end, and logs its failure. The API continues without the app.
async fn with_failure_logged(app: Option<impl Future<Output = io::Result<Drained>>>) -> Drained {
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
            tracing::info!(signal, "shutting down");
            return;
        }
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(
            signal,
            delay_ms,
            "shutting down: calls are taken until then"
        );
        lifecycle.announce_stop();
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            signal = signals.next_name() => tracing::info!(signal, "shutting down at once"),
        }
    })
}
