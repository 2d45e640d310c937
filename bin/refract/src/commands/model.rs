//! `refract model`: whether the configured model can serve, shown by small calls.

use anyhow::Context as _;
use clap::Subcommand;
use refract_domain::answer::{Answer, most_probable};
use refract_domain::prism::Definition;
use refract_domain::submission::{SentFields, Submission};
use refract_model_gateway::{Model, ModelEndpoint, ModelGateway, ModelSettings, Protocol};
use serde::Serialize;
use serde_json::{Value, json};

use crate::output;
use crate::settings::ModelArgs;

/// Options of the largest question.
const MOST_OPTIONS: usize = 253;
/// By how much the order of options may move a probability before it is worth a word.
const NOTABLE_MOVE: f64 = 0.1;

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

/// A call whose right answer nobody doubts.
struct Trial {
    name: &'static str,
    question: Value,
    text: &'static str,
    /// Key of the right outcome; `yes` for Yes / No.
    right: &'static str,
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

async fn check(settings: &ModelSettings, as_json: bool) -> anyhow::Result<()> {
    let gateway = ModelGateway::new(settings.clone())?;
    let model = gateway.model();
    let mut shown = Vec::new();
    for trial in trials() {
        let call = ask(&model, &trial).await;
        shown.push(call.with_context(|| format!("this model cannot serve ({})", trial.name))?);
    }
    let headers = [
        "call",
        "answer",
        "right",
        "probability",
        "requests",
        "attempts",
        "ms",
    ];
    output::list(as_json, &headers, &shown, |row| {
        vec![
            row.call.to_owned(),
            row.answer.clone(),
            if row.right { "yes" } else { "no" }.to_owned(),
            format!("{:.3}", row.probability),
            row.requests.to_string(),
            row.attempts.to_string(),
            row.took_ms.to_string(),
        ]
    })?;
    output::say(&format!(
        "Asked {}: {}.",
        gateway.describe(),
        reading(settings)
    ));
    output::say(recommendation(gateway.is_for_trying_only(), &shown));
    Ok(())
}

async fn ask(model: &Model, trial: &Trial) -> anyhow::Result<Shown> {
    let definition =
        json!({"fields": [{"key": "text", "label": "Message"}], "questions": [trial.question]});
    let definition: Definition = serde_json::from_value(definition)?;
    let sent = SentFields(vec![("text".to_owned(), trial.text.to_owned())]);
    let submission = Submission::new(sent, None, &definition)?;
    let call = model.answer(&definition, &submission).await;
    let answers = call.outcome?;
    let (_, answer) = answers.as_slice().first().context("there is no answer")?;
    let (answer, probability) = read(answer, trial.right);
    Ok(Shown {
        call: trial.name,
        right: answer == trial.right,
        answer,
        probability,
        requests: call.report.requests,
        attempts: call.report.attempts,
        took_ms: call.took.as_millis(),
    })
}

/// The most probable outcome, and the probability of the right one.
fn read(answer: &Answer, right: &str) -> (String, f64) {
    let probabilities = match answer {
        Answer::YesNo { probability } => {
            let yes = probability.to_f64();
            return (if yes >= 0.5 { "yes" } else { "no" }.to_owned(), yes);
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

/// How answers of this model come to be probabilities.
fn reading(settings: &ModelSettings) -> &'static str {
    match (&settings.endpoint, settings.protocol) {
        (ModelEndpoint::Lexical, _) => "it compares words",
        (ModelEndpoint::Server(_), Protocol::SystemOne) => {
            "it sends the probabilities of every outcome"
        }
        (ModelEndpoint::Server(_), Protocol::Chat) => {
            "probabilities are read from the log-probabilities of codes"
        }
        (ModelEndpoint::Server(_), Protocol::Stated) => {
            "the model states percentages, which are coarser than log-probabilities"
        }
    }
}

fn recommendation(is_for_trying_only: bool, shown: &[Shown]) -> &'static str {
    let choices = || {
        shown
            .iter()
            .filter(|row| row.call.starts_with("choice of 4"))
    };
    let most = choices().map(|row| row.probability).fold(0.0, f64::max);
    let least = choices().map(|row| row.probability).fold(1.0, f64::min);
    if is_for_trying_only {
        "The built-in scorer answers: it is for trying things only."
    } else if shown.iter().any(|row| !row.right) {
        "The model can be asked, but it got an easy question wrong: use a stronger one."
    } else if most - least > NOTABLE_MOVE {
        "The model can serve, but the order of options moves its answers: compare it with others."
    } else {
        "The model can serve."
    }
}

fn trials() -> [Trial; 5] {
    let choice = |options: Value| json!({"key": "topic", "type": "choice", "text": "What is the message about?", "options": options});
    let billing =
        json!({"key": "billing", "label": "Billing", "description": "charges and invoices"});
    let delivery =
        json!({"key": "delivery", "label": "Delivery", "description": "parcels on their way"});
    let parcels = (1..=MOST_OPTIONS).map(
        |number| json!({"key": format!("parcel_{number}"), "label": format!("Parcel {number}")}),
    );
    let order = "My parcel was due on Monday and has not arrived. Where is my order?";
    [
        Trial {
            name: "yes_no",
            question: json!({"key": "late", "type": "yes_no", "text": "Does the writer wait for a parcel?"}),
            text: order,
            right: "yes",
        },
        Trial {
            name: "scale of 3",
            question: json!({"key": "mood", "type": "scale", "text": "How content is the writer?",
                "levels": [{"key": "low", "label": "Not at all"}, {"key": "middle", "label": "Somewhat"},
                           {"key": "high", "label": "Very"}]}),
            text: "This is the best shop that I have ever known. I am delighted, thank you!",
            right: "high",
        },
        Trial {
            name: "choice of 4",
            question: choice(json!([billing, delivery])),
            text: order,
            right: "delivery",
        },
        Trial {
            name: "choice of 4, reversed",
            question: choice(json!([delivery, billing])),
            text: order,
            right: "delivery",
        },
        Trial {
            name: "choice of 255",
            question: json!({"key": "parcel", "type": "choice", "text": "Which parcel is the message about?",
                "options": parcels.collect::<Vec<_>>()}),
            text: "Parcel 137 is missing.",
            right: "parcel_137",
        },
    ]
}
