//! How a model answered one trial.

use refract_domain::answer::probability::Probability;
use refract_domain::answer::{Answer, most_probable};
use refract_domain::lens::cutoffs::Cutoffs;
use refract_model_gateway::ModelReport;
use serde::Serialize;

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
