//! `refract model`: whether the configured model can serve, found out by small trials.

mod advice;
mod distance;
mod trial_report;
mod trials;

use clap::Subcommand;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission};
use refract_service::model::{Model, ModelFailure, ModelGateway, ModelSettings, ServerMessage};
use serde_json::json;

use self::trial_report::{HEADERS, SERVER_HEADER, TrialReport};
use self::trials::Trial;
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

/// Asks each server, and fails when one of them cannot serve.
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

/// Asks a server the trials' questions one after the other and shows the reports, with the server's
/// address where there is one. Returns the reason when a trial was not answered.
async fn check_server(
    settings: &ModelSettings,
    address: Option<&str>,
    as_json: bool,
) -> anyhow::Result<Result<(), String>> {
    let gateway = ModelGateway::new(settings.clone())?;
    let model = gateway.model();
    let mut reports = Vec::new();
    let mut failed = None;
    for trial in trials::of(settings) {
        match ask(&model, &trial).await? {
            Ok(report) => reports.push(TrialReport {
                server: address.map(str::to_owned),
                ..report
            }),
            Err(failure) => {
                failed = Some((trial.name, failure));
                break;
            }
        }
    }
    if !reports.is_empty() {
        let headers = address.map(|_| SERVER_HEADER).into_iter().chain(HEADERS);
        let headers: Vec<&str> = headers.collect();
        output::list(as_json, &headers, &reports, TrialReport::cells)?;
    }
    if let Some((trial, failed)) = failed {
        return Ok(Err(reason(settings, trial, failed)));
    }
    output::say(&format!(
        "Asked {}: {}.",
        gateway.describe(),
        advice::reading(settings)
    ));
    for line in advice::findings(settings, &reports) {
        output::say(&line);
    }
    Ok(Ok(()))
}

/// Why a server cannot serve, and what to do about it.
fn reason(settings: &ModelSettings, trial: &str, failed: FailedTrial) -> String {
    let FailedTrial { failure, message } = failed;
    let key = settings.api_key.as_ref();
    let message = message.and_then(|message| message.for_terminal(key));
    let said = message.map(|words| format!(" The server says: \"{words}\"."));
    let said = said.unwrap_or_default();
    let advice = advice::after(&failure, settings.protocol);
    format!("this model cannot serve ({trial}): {failure}{said}{advice}")
}

/// Why a trial was not answered.
struct FailedTrial {
    failure: ModelFailure,
    /// What the server said of it.
    message: Option<ServerMessage>,
}

async fn ask(model: &Model, trial: &Trial) -> anyhow::Result<Result<TrialReport, FailedTrial>> {
    let version =
        json!({"fields": [{"key": "text", "label": "Message"}], "questions": [trial.question]});
    let version: PrismVersion = serde_json::from_value(version)?;
    let sent = SentFields(vec![("text".to_owned(), trial.text.to_owned())]);
    let submission = Submission::new(sent, None, version.fields())?;
    let asked = model.answer(&version, &submission).await;
    let took_ms = asked.took.as_millis();
    Ok(match asked.outcome {
        Ok(answers) => {
            let answer = answers.as_slice().first().map(|(_, answer)| answer);
            Ok(TrialReport::new(trial, answer, asked.report, took_ms))
        }
        Err(failure) => Err(FailedTrial {
            failure,
            message: asked.server_message,
        }),
    })
}
