//! `refract model`: whether the configured model can serve, found out by small trials.

mod advice;
mod distance;
mod trial_report;
mod trials;

use clap::Subcommand;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission};
use refract_model_gateway::{Model, ModelFailure, ModelGateway, ModelSettings, ServerMessage};
use serde_json::json;

use self::trial_report::{HEADERS, TrialReport};
use self::trials::Trial;
use crate::output;
use crate::settings::ModelArgs;

/// The commands about the model.
#[derive(Subcommand)]
pub(crate) enum ModelCommand {
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

/// Asks the trials' questions one after the other, shows the reports, and fails with the reason
/// when a trial was not answered.
async fn check(settings: &ModelSettings, as_json: bool) -> anyhow::Result<()> {
    let gateway = ModelGateway::new(settings.clone())?;
    let model = gateway.model();
    let mut reports = Vec::new();
    let mut failed = None;
    for trial in trials::of(settings) {
        match ask(&model, &trial).await? {
            Ok(report) => reports.push(report),
            Err(failure) => {
                failed = Some((trial.name, failure));
                break;
            }
        }
    }
    if !reports.is_empty() {
        output::list(as_json, &HEADERS, &reports, TrialReport::cells)?;
    }
    if let Some((trial, FailedTrial { failure, message })) = failed {
        let key = settings.api_key.as_ref();
        let message = message.and_then(|message| message.for_terminal(key));
        let said = message.map(|words| format!(" The server says: \"{words}\"."));
        let said = said.unwrap_or_default();
        let advice = advice::after(&failure, settings.protocol);
        anyhow::bail!("this model cannot serve ({trial}): {failure}{said}{advice}");
    }
    output::say(&format!(
        "Asked {}: {}.",
        gateway.describe(),
        advice::reading(settings)
    ));
    for line in advice::findings(settings, &reports) {
        output::say(&line);
    }
    Ok(())
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
