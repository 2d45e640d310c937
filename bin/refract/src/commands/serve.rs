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

/// The arguments of `refract serve`.
#[derive(Args)]
pub(crate) struct ServeCommand {
    #[command(flatten)]
    serve: ServeArgs,
    #[command(flatten)]
    model: ModelArgs,
}

impl ServeCommand {
    /// Runs `refract serve`.
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
        // a port of 0 has been replaced by a free port
        let api = http.listen.local_addr()?;
        let ops = http.ops.as_ref().map(TcpListener::local_addr).transpose()?;
        tracing::info!(%api, ops = ops.map(tracing::field::display), "listening");
        serve(http, database, &gateway, counts, stop_signal()?).await
    }
}

/// Serves the API until `stop`, then lets the calls in flight finish.
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
    let threads = http.workers;
    let make_answering = {
        let (gateway, database) = (gateway.clone(), database.clone());
        let (key_uses, save_backoff) = (key_uses.clone(), save_backoff.clone());
        move || {
            let database = database.for_this_thread(threads);
            let (key_uses, counts) = (key_uses.clone(), counts.clone());
            Answering::new(database, gateway.model(), key_uses, counts)
                .with_save_backoff(save_backoff.clone())
        }
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
            let message = format!("error: {calls} calls did not finish within the grace time");
            Ok(output::fail_with(&message))
        }
    }
}

/// Binds a listener to the address in a setting.
fn listen(setting: &str, address: &str) -> anyhow::Result<TcpListener> {
    let address = settings::address(setting, address)?;
    refract_http_api::bind(address)
        .with_context(|| format!("{setting}: cannot listen on {address}"))
}

/// Waits for the first SIGTERM or SIGINT.
pub(crate) fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    let mut signals = StopSignals::watch()?;
    Ok(async move { signals.next().await })
}
