//! `refract model`: what the configured server speaks, and whether its model is usable.

mod advice;
pub(in crate::commands) mod check;
mod detect;

use clap::Subcommand;
use refract_service::model::TrialScope;

use crate::settings::ModelArgs;

/// The commands about the model.
#[derive(Subcommand)]
pub enum ModelCommand {
    /// Asks the configured model a small call of every question type and shows how it answered
    ///
    /// Further calls show how many outcomes and questions its server takes. Each call is reported
    /// on stderr as it ends.
    #[command(
        after_help = "Examples:\n  REFRACT_MODEL_URL=http://127.0.0.1:8000/v1 refract model check\n  refract model check --quick\n  refract model check --model-url builtin:lexical --json"
    )]
    Check {
        /// JSON lines instead of a table
        #[arg(long)]
        json: bool,
        /// Only one small call of every question type, for a slow model
        #[arg(long)]
        quick: bool,
        #[command(flatten)]
        model: ModelArgs,
    },
    /// Asks the configured server what it speaks and prints the settings to use
    ///
    /// Tries the address with and without `/v1`, the list of models, and one tiny question in each
    /// protocol, those with the best probabilities first.
    #[command(
        after_help = "Examples:\n  refract model detect --model-url http://127.0.0.1:8000\n  refract model detect >> .env"
    )]
    Detect {
        /// One JSON object instead of lines to copy
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
            Self::Check { json, quick, model } => {
                let scope = if quick {
                    TrialScope::Quick
                } else {
                    TrialScope::Full
                };
                check::run(&model.settings()?, json, scope).await
            }
            Self::Detect { json, model } => {
                detect::run(&model.settings()?, model.given_name(), json).await
            }
        }
    }
}
