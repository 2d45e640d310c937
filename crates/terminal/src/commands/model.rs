//! `refract model`: small trials that show whether the configured model is usable.

mod advice;
mod distance;
mod long_text;
mod trial_report;

use clap::Subcommand;
use refract_service::model::{FailedTrial, ModelGateway, ModelSettings, ModelTrials};

use self::trial_report::{HEADERS, SERVER_HEADER};
use crate::output;
use crate::settings::ModelArgs;

/// The commands about the model.
#[derive(Subcommand)]
pub enum ModelCommand {
    /// Asks the configured model a small call of every question type and shows how it answered
    #[command(
        after_help = "Examples:\n  REFRACT_MODEL_URL=http://127.0.0.1:8000/v1 refract model check\n  refract model check --model-url builtin:lexical --json"
    )]
    Check {
        /// JSON lines instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        model: ModelArgs,
    },
}

impl ModelCommand {
    /// Runs a `refract model` command.
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Check { json, model } => check(&model.settings()?, json).await,
        }
    }
}

/// Tries each server, and fails if one is unusable.
async fn check(settings: &ModelSettings, as_json: bool) -> anyhow::Result<()> {
    let servers = settings.of_each_server();
    if let [only] = servers.as_slice() {
        return check_server(only, None, as_json)
            .await?
            .map_err(|reason| anyhow::anyhow!(reason));
    }
    let mut failed = Vec::new();
    for server in &servers {
        let address = server.endpoint.to_string();
        let checked = check_server(server, Some(&address), as_json).await?;
        if let Err(reason) = checked {
            output::say(&format!("Asked {address}: {reason}"));
            failed.push(address);
        }
    }
    let all = servers.len();
    match failed.len() {
        0 => Ok(()),
        failures => anyhow::bail!(
            "{failures} of {all} model servers cannot serve: {}",
            failed.join(", ")
        ),
    }
}

/// Runs the trials on a server and prints the reports, with the server's address if it has one.
/// Returns the reason if a trial failed.
async fn check_server(
    settings: &ModelSettings,
    address: Option<&str>,
    as_json: bool,
) -> anyhow::Result<Result<(), String>> {
    let gateway = ModelGateway::new(settings.clone())?;
    let mut trials = ModelTrials::ask(&gateway, settings).await?;
    for report in &mut trials.reports {
        report.server = address.map(str::to_owned);
    }
    if !trials.reports.is_empty() {
        let headers = address.map(|_| SERVER_HEADER).into_iter().chain(HEADERS);
        let headers: Vec<&str> = headers.collect();
        output::list(as_json, &headers, &trials.reports, trial_report::cells)?;
    }
    if let Some(failed) = trials.failed {
        return Ok(Err(reason(settings, failed)));
    }
    output::say(&format!(
        "Asked {}: {}.",
        gateway.describe(),
        advice::reading(settings)
    ));
    for line in advice::findings(settings, &trials) {
        output::say(&line);
    }
    Ok(Ok(()))
}

/// Why a server is unusable, and what to do about it.
fn reason(settings: &ModelSettings, failed: FailedTrial) -> String {
    let FailedTrial {
        trial,
        failure,
        message,
    } = failed;
    let key = settings.api_key.as_ref();
    let message = message.and_then(|message| message.for_terminal(key));
    let quoted = message.map(|words| format!(" The server says: \"{words}\"."));
    let quoted = quoted.unwrap_or_default();
    let advice = advice::after(&failure, settings.protocol);
    format!("this model cannot serve ({trial}): {failure}{quoted}{advice}")
}
