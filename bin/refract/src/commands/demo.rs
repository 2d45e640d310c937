//! `refract demo`: creates a prism and a key, makes a first call, then serves, without any setup.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use refract_model_gateway::ModelGateway;
use refract_persistence::DatabaseSettings;
use refract_service::results::ServiceMetrics;
use refract_service::store::DEMO_DATABASE_URL;
use refract_terminal::demo;
use refract_terminal::settings::{self, AppArgs, ModelArgs, ServeArgs};
use refract_traces::Traces;
use tokio::sync::oneshot;

use super::serve;
use crate::listeners::{self, AppListener};

/// The arguments of `refract demo`: the settings of `serve` without the database. The data is in
/// `refract-demo.db` in the current folder.
#[derive(Args)]
pub(crate) struct DemoCommand {
    /// Exits after the call instead of serving on
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    serve: ServeArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    app: AppArgs,
}

impl DemoCommand {
    /// Runs `refract demo`.
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        let model = self.model.settings_or_demo_scorer()?;
        let runs = self.app.file_runs(model.concurrency);
        let mut gateway = ModelGateway::new(model)?;
        let settings = DatabaseSettings {
            url: DEMO_DATABASE_URL.into(),
            pool: 4,
        };
        let workers = self.serve.workers().get();
        let (has_app, has_ops) = (self.app.is_on(), self.serve.ops_listen != "off");
        let shares = serve::descriptors::share(workers, has_app, has_ops, &settings)?;
        let counts = ServiceMetrics::default();
        let refract = refract_terminal::open_for_demo(&settings).await?;
        let refract = refract.with_gateway(&mut gateway).await?;
        let refract = refract.with_metrics(counts.clone());
        let key = demo::prepare(&refract).await?;
        let http = serve::http_settings(
            &self.serve,
            &self.app,
            listeners::bind_or_free,
            shares.api,
            serve::registry(&gateway, &counts),
            Traces::default(),
        )?;
        let address = http.listen.local_addr()?;
        let api_url = self.serve.api_url(address)?;
        let app = if self.once {
            None
        } else {
            let listener = listeners::bind_app_or_free(&self.app)?;
            listener
                .map(|bound| AppListener::of(bound, &self.app, api_url.clone(), shares.app))
                .transpose()?
        };
        let invitation = match &app {
            Some(app) => Some(demo::prepare_app(&refract, &app.url).await?),
            None => None,
        };
        let (shown, has_shown) = oneshot::channel();
        let stop_signal = serve::announced_stop(http.lifecycle.clone(), Duration::ZERO)?;
        let stop = async move {
            let is_good = has_shown.await.unwrap_or(false);
            if is_good && !self.once {
                stop_signal.await;
            }
        };
        let wanted = settings::address("REFRACT_LISTEN", &self.serve.listen)?;
        let show = async {
            let outcome = match demo::show((wanted, address), &key, &gateway).await {
                Ok(()) if self.once => demo::end(&api_url, &key),
                Ok(()) => demo::invite(&api_url, &key, invitation.as_ref()),
                Err(error) => Err(error),
            };
            let _ = shown.send(outcome.is_ok());
            outcome
        };
        let serving = serve::serve(http, app, refract, &gateway, runs, stop);
        let (served, outcome) = tokio::join!(serving, show);
        outcome?;
        served
    }
}
