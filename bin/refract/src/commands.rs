//! The command line: the commands that serve, and those of the terminal.

pub(crate) mod serve;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, CommandFactory as _, Parser, Subcommand};
use refract_model_gateway::ModelGateway;
use refract_persistence::DatabaseSettings;
use refract_service::results::ServiceMetrics;
use refract_service::store::DEMO_DATABASE_URL;
use refract_terminal::settings::{
    self, AppArgs, ConfigArgs, DatabaseArgs, LogSettings, ModelArgs, ServeArgs,
};
use refract_terminal::{TerminalCommand, arguments, demo};
use refract_traces::Traces;
use tokio::sync::oneshot;

use crate::listeners::{self, AppListener};

/// Answers typed questions about a text, with probabilities and a memory
#[derive(Parser)]
#[command(
    name = "refract",
    version = crate::VERSION,
    disable_help_subcommand = true,
    after_help = "Examples:\n  refract demo\n  refract prism create docs/examples/support-triage.json\n  refract try support-triage --text 'Where is my order?' --model-url builtin:lexical\n  refract results export support-triage --output results.csv"
)]
pub struct Program {
    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    log: LogSettings,

    #[command(flatten)]
    config: ConfigArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the API until SIGTERM or SIGINT
    #[command(
        after_help = "Examples:\n  REFRACT_MODEL_URL=http://127.0.0.1:8000/v1 refract serve\n  DATABASE_URL=postgres://refract@db.example.com/refract refract serve --listen 0.0.0.0:8080\n  refract serve --model-url builtin:lexical"
    )]
    Serve(Box<serve::ServeCommand>),
    /// Shows the main job with nothing to set up: a prism, a key, one real call
    #[command(after_help = "Examples:\n  refract demo\n  refract demo --once")]
    Demo(DemoCommand),
    #[command(flatten)]
    Terminal(TerminalCommand),
}

impl Program {
    /// How the program logs.
    pub fn log(&self) -> &LogSettings {
        &self.log
    }

    /// The default log filter. Only a server logs its work; the demo logs warnings.
    pub fn default_log(&self) -> &'static str {
        match &self.command {
            Command::Serve(_) => "info",
            Command::Demo(_) => "warn",
            Command::Terminal(command) => command.default_log(),
        }
    }

    /// Runs the command to its end.
    ///
    /// # Errors
    /// Why the command failed, for the operator.
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let database = &self.database;
        refract_terminal::survive_file_size_limit()?;
        arguments::refuse_both("DATABASE_URL")?;
        match self.command {
            Command::Serve(command) => Box::pin(command.run(database)).await,
            Command::Demo(command) => Box::pin(command.run()).await,
            Command::Terminal(command) => Box::pin(command.run(database, Self::command)).await,
        }
    }
}

/// The arguments of `refract demo`: the settings of `serve` without the database. The data is in
/// `refract-demo.db` in the current folder.
#[derive(Args)]
struct DemoCommand {
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
        let shares = listeners::share_descriptors(workers, has_app, has_ops, &settings)?;
        let counts = ServiceMetrics::default();
        let refract = refract_terminal::open_for_demo(&settings).await?;
        let refract = refract.with_gateway(&mut gateway).await?;
        let refract = refract.with_metrics(counts.clone());
        let key = demo::prepare(&refract).await?;
        let mut http = serve::http_settings(
            &self.serve,
            &self.app,
            listeners::bind_or_free,
            shares.api,
            Traces::default(),
        )?;
        http.registry = serve::registry(&gateway, &counts);
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

#[cfg(test)]
mod tests;
