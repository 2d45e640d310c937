//! How a model answered one trial, as `refract model check` shows it.

use refract_domain::answer::{Answer, most_probable};
use refract_domain::cutoffs::Cutoffs;
use refract_domain::probability::Probability;
use refract_service::model::ModelReport;
use serde::Serialize;

use super::trials::Trial;

/// The headers of the table of reports.
pub(super) const HEADERS: [&str; 11] = [
    "call",
    "answer",
    "right",
    "probability",
    "readable",
    "code",
    "on codes",
    "unread",
    "requests",
    "attempts",
    "ms",
];

/// The header before the others where there are several servers.
pub(super) const SERVER_HEADER: &str = "server";

/// How one trial went: a row of the table, or a JSON line.
#[derive(Serialize)]
pub(super) struct TrialReport {
    /// The address of the server, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<String>,
    /// The trial's name.
    #[serde(rename = "call")]
    pub(super) trial: &'static str,
    /// The outcome that the model found most probable.
    pub(super) answer: String,
    /// Whether that outcome is the right one; `None` where no outcome is.
    pub(super) right: Option<bool>,
    /// The probability of the right outcome, or of the most probable one where none is right.
    pub(super) probability: f64,
    /// The number of the question's outcomes.
    pub(super) outcomes: usize,
    /// Outcomes with a probability of their own; the others share the rest.
    pub(super) readable: usize,
    /// Tokens that the code was cut into (`chat` only).
    pub(super) code_tokens: Option<usize>,
    /// Tokens that the model wrote before the code (`chat` only).
    pub(super) tokens_before: Option<usize>,
    /// The part of the whole probability that was on the codes (`chat` only).
    pub(super) on_codes: Option<f64>,
    /// The part of the probability on the codes that was split evenly for want of a reading (`chat`
    /// only).
    pub(super) unread: Option<Probability>,
    /// The model's name, as the server gives it.
    pub(super) model: Option<String>,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    /// Model requests that the trial took.
    pub(super) requests: u32,
    /// Attempts at these requests.
    pub(super) attempts: u32,
    pub(super) took_ms: u128,
}

impl TrialReport {
    /// The report of a trial whose model gave an answer; without one, nothing was right.
    pub(super) fn new(
        trial: &Trial,
        answer: Option<&Answer>,
        report: ModelReport,
        took_ms: u128,
    ) -> Self {
        let read = answer.map(|answer| outcome(answer, trial.right));
        let (answer, probability) = read.unwrap_or_default();
        let codes = report.coverage.codes;
        Self {
            server: None,
            trial: trial.name,
            right: trial.right.map(|right| answer == right),
            answer,
            probability,
            outcomes: report.coverage.outcomes,
            readable: report.coverage.listed,
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
        }
    }

    /// The cells of the report's row, in the order of [`HEADERS`], behind that of the server where
    /// there is one.
    pub(super) fn cells(&self) -> Vec<String> {
        let right = match self.right {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        let mut cells = Vec::from_iter(self.server.clone());
        cells.extend([
            self.trial.to_owned(),
            self.answer.clone(),
            right.to_owned(),
            format!("{:.3}", self.probability),
            format!("{} of {}", self.readable, self.outcomes),
            self.code(),
            self.on_codes
                .map_or_else(String::new, |mass| format!("{mass:.3}")),
            self.unread
                .map_or_else(String::new, |unread| format!("{:.3}", unread.to_f64())),
            self.requests.to_string(),
            self.attempts.to_string(),
            self.took_ms.to_string(),
        ]);
        cells
    }

    /// How the code was cut into tokens, in words.
    fn code(&self) -> String {
        let tokens = match self.code_tokens {
            None => return String::new(),
            Some(1) => "1 token".to_owned(),
            Some(tokens) => format!("{tokens} tokens"),
        };
        match self.tokens_before {
            None | Some(0) => tokens,
            Some(before) => format!("{tokens} after {before}"),
        }
    }
}

/// The most probable outcome, and the probability of the right one, or of the most probable one
/// where none is right.
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
