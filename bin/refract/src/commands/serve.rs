//! `refract serve`: runs the API until SIGTERM or SIGINT.

use std::net::TcpListener;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use refract_answering::api_keys::KeyUses;
use refract_answering::{Answering, AnsweringMetrics, SaveBackoff};
use refract_http_api::{Drained, HttpSettings};
use refract_model_gateway::ModelGateway;
use refract_persistence::Database;

use super::operator;
use super::signals::StopSignals;
use crate::settings::{self, DatabaseArgs, ModelArgs, ServeArgs};
use crate::{metrics, output};

/// The server with its model.
#[derive(Args)]
pub(crate) struct ServeCommand {
    #[command(flatten)]
    serve: ServeArgs,
    #[command(flatten)]
    model: ModelArgs,
}

impl ServeCommand {
    /// Carries it out.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let gateway = ModelGateway::new(self.model.settings()?)?;
        let counts = AnsweringMetrics::default();
        let http = HttpSettings {
            listen: listen("REFRACT_LISTEN", &self.serve.listen)?,
            ops: match self.serve.ops_listen.as_str() {
                "off" => None,
                address => Some(listen("REFRACT_OPS_LISTEN", address)?),
            },
            workers: self.serve.workers(),
            grace: self.serve.grace(),
            registry: metrics::registry(&gateway, &counts),
        };
        let database = operator::open_when_up(&database.settings()).await?;
        if gateway.is_for_trying_only() {
            tracing::warn!("the built-in scorer answers: it is for trying things only");
        }
        // a port of 0 is only known now
        let api = http.listen.local_addr()?;
        let ops = http.ops.as_ref().map(TcpListener::local_addr).transpose()?;
        tracing::info!(%api, ops = ops.map(tracing::field::display), "listening");
        serve(http, database, &gateway, counts, stop_signal()?).await
    }
}

/// Serves until `stop`, then lets calls in flight finish.
pub(crate) async fn serve(
    mut http: HttpSettings,
    database: Database,
    gateway: &ModelGateway,
    counts: AnsweringMetrics,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<ExitCode> {
    metrics::add_database(&mut http.registry, &database);
    let key_uses = KeyUses::default();
    let save_backoff = SaveBackoff::within(http.grace);
    let parts = (
        gateway.clone(),
        database.clone(),
        key_uses.clone(),
        counts,
        save_backoff.clone(),
    );
    let threads = http.workers;
    let make_answering = move || {
        let (gateway, database, key_uses, counts, save_backoff) = parts.clone();
        let database = database.for_this_thread(threads);
        Answering::new(database, gateway.model(), key_uses, counts).with_save_backoff(save_backoff)
    };
    let stop = async move {
        stop.await;
        save_backoff.drain();
    };
    let served = tokio::select! {
        served = refract_http_api::serve(http, make_answering, stop) => served,
        never = key_uses.write_regularly(&database) => match never {},
    };
    key_uses.write(&database).await;
    match served.context("the server failed")? {
        Drained::Clean => Ok(ExitCode::SUCCESS),
        Drained::Cut(calls) => {
            let words = format!("error: {calls} calls did not finish within the grace time");
            Ok(output::fail_with(&words))
        }
    }
}

/// Opens the socket of a setting.
fn listen(setting: &str, address: &str) -> anyhow::Result<TcpListener> {
    let address = settings::address(setting, address)?;
    refract_http_api::bind(address)
        .with_context(|| format!("{setting}: cannot listen on {address}"))
}

/// Ends at the first SIGTERM or SIGINT.
pub(crate) fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    let mut signals = StopSignals::watch()?;
    Ok(async move { signals.next().await })
}
