//! `refract model`: whether the configured model can serve, shown by small calls.

mod advice;
mod trials;

use clap::Subcommand;
use refract_domain::answer::{Answer, most_probable};
use refract_domain::cutoffs::Cutoffs;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission};
use refract_model_gateway::{CallReport, Model, ModelFailure, ModelGateway, ModelSettings};
use serde::Serialize;
use serde_json::json;

use self::trials::Trial;
use crate::output;
use crate::settings::ModelArgs;

/// What may be done with the model.
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

/// How one call went.
#[derive(Serialize)]
struct Shown {
    call: &'static str,
    /// The outcome that the model found most probable, and whether it is the right one.
    answer: String,
    right: bool,
    /// Of the right outcome.
    probability: f64,
    outcomes: usize,
    /// Outcomes with a number of their own; the others share what is left.
    readable: usize,
    /// Of the protocol `chat`: tokens that the code was cut into, and before it.
    code_tokens: Option<usize>,
    tokens_before: Option<usize>,
    /// Of the protocol `chat`: what of the whole probability was on the codes.
    on_codes: Option<f64>,
    model: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    requests: u32,
    attempts: u32,
    took_ms: u128,
}

impl ModelCommand {
    /// Carries it out.
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Check { json, model } => check(&model.settings()?, json).await,
        }
    }
}

/// Makes the calls one after the other, shows those that were answered, and ends with the reason
/// when one was not.
async fn check(settings: &ModelSettings, as_json: bool) -> anyhow::Result<()> {
    let gateway = ModelGateway::new(settings.clone())?;
    let model = gateway.model();
    let mut shown = Vec::new();
    let mut failed = None;
    for trial in trials::all() {
        match ask(&model, &trial).await? {
            Ok(row) => shown.push(row),
            Err(failure) => {
                failed = Some((trial.name, failure));
                break;
            }
        }
    }
    if !shown.is_empty() {
        show(as_json, &shown)?;
    }
    if let Some((call, failure)) = failed {
        let advice = advice::after(&failure, settings.protocol);
        anyhow::bail!("this model cannot serve ({call}): {failure}{advice}");
    }
    output::say(&format!(
        "Asked {}: {}.",
        gateway.describe(),
        advice::reading(settings)
    ));
    for line in advice::findings(settings, &shown) {
        output::say(&line);
    }
    Ok(())
}

fn show(as_json: bool, shown: &[Shown]) -> anyhow::Result<()> {
    let headers = [
        "call",
        "answer",
        "right",
        "probability",
        "readable",
        "code",
        "on codes",
        "requests",
        "attempts",
        "ms",
    ];
    output::list(as_json, &headers, shown, |row| {
        vec![
            row.call.to_owned(),
            row.answer.clone(),
            if row.right { "yes" } else { "no" }.to_owned(),
            format!("{:.3}", row.probability),
            format!("{} of {}", row.readable, row.outcomes),
            code(row),
            row.on_codes
                .map_or_else(String::new, |mass| format!("{mass:.3}")),
            row.requests.to_string(),
            row.attempts.to_string(),
            row.took_ms.to_string(),
        ]
    })
}

/// How the code is cut into tokens, in words.
fn code(row: &Shown) -> String {
    let tokens = match row.code_tokens {
        None => return String::new(),
        Some(1) => "1 token".to_owned(),
        Some(tokens) => format!("{tokens} tokens"),
    };
    match row.tokens_before {
        None | Some(0) => tokens,
        Some(before) => format!("{tokens} after {before}"),
    }
}

async fn ask(model: &Model, trial: &Trial) -> anyhow::Result<Result<Shown, ModelFailure>> {
    let version =
        json!({"fields": [{"key": "text", "label": "Message"}], "questions": [trial.question]});
    let version: PrismVersion = serde_json::from_value(version)?;
    let sent = SentFields(vec![("text".to_owned(), trial.text.to_owned())]);
    let submission = Submission::new(sent, None, version.fields())?;
    let call = model.answer(&version, &submission).await;
    let took_ms = call.took.as_millis();
    Ok(call.outcome.map(|answers| {
        let read = answers.as_slice().first();
        let read = read.map(|(_, answer)| outcome(answer, trial.right));
        shown(trial, read.unwrap_or_default(), call.report, took_ms)
    }))
}

fn shown(trial: &Trial, read: (String, f64), report: CallReport, took_ms: u128) -> Shown {
    let (answer, probability) = read;
    let codes = report.seen.codes;
    Shown {
        call: trial.name,
        right: answer == trial.right,
        answer,
        probability,
        outcomes: report.seen.outcomes,
        readable: report.seen.shown,
        code_tokens: codes.and_then(|codes| codes.tokens),
        tokens_before: codes.map(|codes| codes.tokens_before),
        on_codes: codes.map(|codes| codes.mass.to_f64()),
        model: report.model,
        input_tokens: report.input_tokens,
        output_tokens: report.output_tokens,
        requests: report.requests,
        attempts: report.attempts,
        took_ms,
    }
}

/// The most probable outcome, and the probability of the right one.
fn outcome(answer: &Answer, right: &str) -> (String, f64) {
    let probabilities = match answer {
        Answer::YesNo { probability } => {
            let label = Cutoffs::AUTOMATIC.label(*probability);
            return (label.key().to_owned(), probability.to_f64());
        }
        Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => probabilities,
    };
    let named = most_probable(probabilities).map_or("none", |key| key.as_str());
    let right = probabilities.iter().find(|(key, _)| key.as_str() == right);
    (
        named.to_owned(),
        right.map_or(0.0, |(_, share)| share.to_f64()),
    )
}
