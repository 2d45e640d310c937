//! `refract model`: what the configured server speaks, and whether its model is usable.
//! `refract model detect`: asks servers what they speak and prints the settings to use.

mod advice;
pub(in crate::commands) mod check;

use clap::Subcommand;
use refract_service::model::{
    DetectedModel, DetectionTry, ModelApiKey, ModelDetection, ModelEndpoint, ModelSettings,
    TrialScope,
};
use serde::Serialize;

use crate::output;
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
            Self::Detect { json, model } => run(&model.settings()?, model.given_name(), json).await,
        }
    }
}

/// How many of a server's models are named.
const NAMED_MODELS: usize = 5;

/// Finds out what the servers speak. They must agree: they serve one model.
async fn run(settings: &ModelSettings, name: Option<&str>, json: bool) -> anyhow::Result<()> {
    if settings.endpoint == ModelEndpoint::DemoScorer {
        anyhow::bail!("builtin:lexical is no server: give the address of one as REFRACT_MODEL_URL");
    }
    let mut found: Vec<ModelSettings> = Vec::new();
    for server in settings.of_each_server() {
        let detected = detect(&server, name).await?;
        if let Some(first) = found.first() {
            let is_same = first.protocol == detected.protocol && first.name == detected.name;
            anyhow::ensure!(
                is_same,
                "{} speaks `{}` with the model {}, {} speaks `{}` with the model {}: the servers \
                 of a list must serve one model",
                first.endpoint,
                first.protocol.name(),
                first.name,
                detected.endpoint,
                detected.protocol.name(),
                detected.name
            );
        }
        found.push(detected);
    }
    let lines = lines(&found);
    if json {
        let settings = lines.lines().filter_map(|line| line.split_once('='));
        return output::json(&DetectedSettings {
            settings: settings.collect(),
        });
    }
    output::text(&lines)
}

/// The JSON output of `refract model detect`: settings by their names.
#[derive(Serialize)]
#[serde(transparent)]
struct DetectedSettings<'a> {
    #[serde(serialize_with = "output::in_order")]
    settings: Vec<(&'a str, &'a str)>,
}

/// Finds out what one server speaks, with a line on stderr for each protocol that was tried.
async fn detect(settings: &ModelSettings, name: Option<&str>) -> anyhow::Result<ModelSettings> {
    let address = settings.endpoint.to_string();
    let mut detection = ModelDetection::new(settings, name);
    let detected = check::for_call(&address, detection.run()).await?;
    for tried in detection.best_tries() {
        output::say(&line(settings, tried));
    }
    let Some(DetectedModel { settings, listed }) = detected else {
        anyhow::bail!(reason(settings, &detection));
    };
    if name.is_none() && listed.len() > 1 {
        let models = named(&listed);
        output::say(&format!(
            "{address} lists {} models: {models}. Set REFRACT_MODEL_NAME to another one if you \
             want it asked.",
            listed.len()
        ));
    }
    Ok(settings)
}

fn line(settings: &ModelSettings, tried: &DetectionTry) -> String {
    let DetectionTry {
        address,
        protocol,
        model,
        ..
    } = tried;
    let protocol = protocol.name();
    match &tried.failure {
        None => format!("{protocol} at {address}: the model {model} answered."),
        Some(failure) => {
            let quoted = advice::server_words(settings, tried.message.as_ref());
            format!("{protocol} at {address}: {failure}{quoted}")
        }
    }
}

/// Why nothing was found, and what to do about it.
fn reason(settings: &ModelSettings, detection: &ModelDetection<'_>) -> String {
    let address = &settings.endpoint;
    let listed = detection.listed();
    let models = if listed.is_empty() {
        String::new()
    } else {
        format!(
            " The server lists {}: set REFRACT_MODEL_NAME.",
            named(listed)
        )
    };
    let Some(tried) = detection.best_failure() else {
        return format!(
            "{address} has none of the endpoints that Refract asks.{models} Check \
             REFRACT_MODEL_URL: it ends in `/v1`, or is the whole address of an endpoint."
        );
    };
    let tried_line = line(settings, tried);
    let advice = tried.failure.as_ref().map(|failure| {
        let advice = advice::after(failure, settings, tried.protocol);
        format!("{models}{advice}")
    });
    format!(
        "{address} answered no question. {tried_line}{}",
        advice.unwrap_or_default()
    )
}

/// The first of these names.
fn named(models: &[String]) -> String {
    let shown: Vec<&str> = models
        .iter()
        .take(NAMED_MODELS)
        .map(String::as_str)
        .collect();
    let more = if models.len() > NAMED_MODELS {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", shown.join(", "))
}

/// The settings as lines of an environment file; never the key.
fn lines(found: &[ModelSettings]) -> String {
    let addresses: Vec<String> = found.iter().map(|it| it.endpoint.to_string()).collect();
    let mut settings = vec![("REFRACT_MODEL_URL", addresses.join(","))];
    if let Some(first) = found.first() {
        settings.push(("REFRACT_MODEL_PROTOCOL", first.protocol.name().to_owned()));
        settings.push(("REFRACT_MODEL_NAME", first.name.clone()));
        let header = first.api_key.as_ref().and_then(ModelApiKey::header);
        settings.extend(header.map(|header| ("REFRACT_MODEL_KEY_HEADER", header.to_string())));
    }
    let lines = settings.into_iter();
    let lines = lines.map(|(name, value)| format!("{name}={}\n", shell_word(&value)));
    lines.collect()
}

/// A value as a shell reads it back.
fn shell_word(value: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./:,@%+=".contains(char);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_quoted_where_a_shell_would_read_it_otherwise() {
        for (value, word) in [
            ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
            ("models/llama-3.1@q4", "models/llama-3.1@q4"),
            ("My model", "'My model'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(value), word);
        }
    }
}
