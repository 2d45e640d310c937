//! One trial: questions about a fixed text, asked once, and how the model answered.

use std::time::Duration;

use refract_domain::answer::{Answer, Probability, most_probable};
use refract_domain::lens::Cutoffs;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::model_input::{State, json_chars};
use refract_domain::submission::{FieldMismatch, SentFields, Submission};
use refract_model_gateway::{
    Model, ModelError, ModelReply, ModelReport, ServerMessage, SettingError,
};
use serde::Serialize;
use serde_json::{Value, json};

/// A trial that was not answered.
pub struct FailedTrial {
    /// The trial's name.
    pub trial: &'static str,
    /// Why it was not answered.
    pub failure: ModelError,
    /// The server's message about the failure.
    pub message: Option<ServerMessage>,
}

/// Why a trial cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelTrialError {
    /// The trial's question is invalid, which is a bug.
    #[error(transparent)]
    Question(#[from] serde_json::Error),
    /// The trial's text does not have the question's fields, which is a bug.
    #[error(transparent)]
    Text(#[from] FieldMismatch),
    /// A setting of the model cannot be used.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// Questions about a text.
pub(super) struct Trial {
    pub(super) name: &'static str,
    pub(super) questions: Vec<Value>,
    pub(super) text: &'static str,
    /// The key of the outcome of the first question that is clearly correct; `yes` for Yes / No.
    /// `None` where all outcomes are equally good.
    pub(super) right: Option<&'static str>,
}

/// How a trial ended.
pub(super) struct AskedTrial {
    pub(super) took: Duration,
    pub(super) outcome: Result<TrialReport, FailedTrial>,
    /// Whether it took more requests than the settings ask for: the server refused the first one.
    pub(super) is_split: bool,
}

impl Trial {
    /// Asks the questions in one call.
    pub(super) async fn reply(&self, model: &Model) -> Result<ModelReply, ModelTrialError> {
        let (version, submission) = self.call()?;
        Ok(model.answer(&version, &submission).await)
    }

    /// Asks the questions in one call and reads what it shows.
    pub(super) async fn ask(&self, model: &Model) -> Result<AskedTrial, ModelTrialError> {
        let (version, submission) = self.call()?;
        let state = State {
            prism_context: None,
            submission: &submission,
        };
        let estimate = model.estimator(&version).estimate(json_chars(&state));
        let reply = model.answer(&version, &submission).await;
        let requests = usize::try_from(reply.report.requests).unwrap_or(usize::MAX);
        let outcome = match reply.outcome {
            Ok(answers) => {
                let answer = answers.as_slice().first().map(|(_, answer)| answer);
                let took_ms = reply.took.as_millis();
                let report = TrialReport::new(self.name, self.right, answer, reply.report, took_ms);
                Ok(report)
            }
            Err(failure) => Err(FailedTrial {
                trial: self.name,
                failure,
                message: reply.server_message,
            }),
        };
        Ok(AskedTrial {
            took: reply.took,
            outcome,
            is_split: requests > estimate.requests,
        })
    }

    fn call(&self) -> Result<(PrismVersion, Submission), ModelTrialError> {
        let version =
            json!({"fields": [{"key": "text", "label": "Message"}], "questions": self.questions});
        let version: PrismVersion = serde_json::from_value(version)?;
        let sent = SentFields::new(vec![("text".to_owned(), self.text.to_owned())]);
        let submission = Submission::new(sent, None, version.fields())?;
        Ok((version, submission))
    }
}

/// The report of one trial, as `refract model check --json` prints it.
#[derive(Serialize)]
pub struct TrialReport {
    /// The address of the server, if there are several servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The trial's name.
    #[serde(rename = "call")]
    pub trial: &'static str,
    /// The outcome that the model found most probable.
    pub answer: String,
    /// Whether that outcome is the correct one; `None` where no outcome is correct.
    pub right: Option<bool>,
    /// The probability of the correct outcome, or of the most probable one where none is correct.
    pub probability: f64,
    /// The number of the question's outcomes.
    pub outcomes: usize,
    /// Outcomes that have their own probability; the others share the rest.
    pub readable: usize,
    /// Number of tokens that make up the code (`chat` only).
    pub code_tokens: Option<usize>,
    /// Tokens that the model wrote before the code (`chat` only).
    pub tokens_before: Option<usize>,
    /// The part of the whole probability that was on the codes (`chat` only).
    pub on_codes: Option<f64>,
    /// The part of the probability on the codes that could not be read and was split evenly (`chat`
    /// only).
    pub unread: Option<Probability>,
    /// The model's name, as the server reports it.
    pub model: Option<String>,
    /// Tokens that the model read, as far as its server reports them.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote, as far as its server reports them.
    pub output_tokens: Option<u64>,
    /// Model requests that the trial needed.
    pub requests: u32,
    /// Attempts at these requests.
    pub attempts: u32,
    /// Milliseconds from the first attempt to the answer.
    pub took_ms: u128,
    /// The sum of all outcomes' probabilities; `None` for Yes / No, which has one number.
    #[serde(skip)]
    pub sum: Option<f64>,
    /// Whether the choice named another outcome than its most probable one.
    #[serde(skip)]
    pub names_another: bool,
}

impl TrialReport {
    /// The report of a trial; if the model gave no answer, nothing is right.
    pub(super) fn new(
        trial: &'static str,
        right: Option<&'static str>,
        answer: Option<&Answer>,
        report: ModelReport,
        took_ms: u128,
    ) -> Self {
        let sum = answer.and_then(sum);
        let names_another = answer.is_some_and(names_another);
        let read = answer.map(|answer| outcome(answer, right));
        let (answer, probability) = read.unwrap_or_default();
        let codes = report.parsed.codes;
        Self {
            server: None,
            trial,
            right: right.map(|right| answer == right),
            answer,
            probability,
            outcomes: report.parsed.outcomes,
            readable: report.parsed.listed,
            code_tokens: codes.and_then(|codes| codes.tokens),
            tokens_before: codes.map(|codes| codes.tokens_before),
            on_codes: codes.map(|codes| codes.mass.to_f64()),
            unread: codes.map(|codes| codes.unread),
            model: report.model,
            input_tokens: report.input_tokens,
            output_tokens: report.output_tokens,
            requests: report.requests,
            attempts: report.attempts,
            took_ms,
            sum,
            names_another,
        }
    }
}

fn sum(answer: &Answer) -> Option<f64> {
    match answer {
        Answer::YesNo { .. } => None,
        Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => {
            let shares = probabilities.iter().map(|(_, share)| share.to_f64());
            Some(shares.sum())
        }
    }
}

fn names_another(answer: &Answer) -> bool {
    let Answer::Choice {
        value: Some(value),
        probabilities,
        ..
    } = answer
    else {
        return false;
    };
    let largest = probabilities.iter().map(|(_, share)| *share).max();
    answer.probability_of(value) != largest
}

/// The most probable outcome, and the probability of the correct one, or of the most probable one
/// where none is correct.
fn outcome(answer: &Answer, right: Option<&str>) -> (String, f64) {
    let probabilities = match answer {
        Answer::YesNo { probability } => {
            let label = Cutoffs::AUTOMATIC.label(*probability);
            return (label.key().to_owned(), probability.to_f64());
        }
        Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => probabilities,
    };
    let named = most_probable(probabilities).map_or("none", |key| key.as_str());
    let judged = right.unwrap_or(named);
    let judged = probabilities.iter().find(|(key, _)| key.as_str() == judged);
    (
        named.to_owned(),
        judged.map_or(0.0, |(_, share)| share.to_f64()),
    )
}
