//! A retested question as the JSON object of `retest --json`.

use refract_evaluation::flips::FlipDirection;
use refract_service::measures::RetestedQuestion;
use serde::Serialize;

/// The object; undefined measures are null.
#[derive(Serialize)]
pub(super) struct RetestJson<'a> {
    question: &'a str,
    asked: u64,
    flips: u64,
    flip_rate: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    towards: Vec<FlipDirection>,
    mcnemar_p: Option<f64>,
}

impl<'a> RetestJson<'a> {
    /// The object of a question.
    pub(super) fn of(retested: &'a RetestedQuestion) -> Self {
        let measures = retested.measures();
        let (rate, interval) = (measures.flip_rate, measures.flip_rate.interval());
        Self {
            question: retested.question.key.as_str(),
            asked: rate.of,
            flips: rate.count,
            flip_rate: rate.value(),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            mcnemar_p: measures.mcnemar_p(),
            towards: measures.towards,
        }
    }
}
