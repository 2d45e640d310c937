//! The lines of `watch --json`.

use chrono::{DateTime, Utc};
use refract_evaluation::drift::outcome_share::OutcomeShare;
use refract_service::measures::{ComparedPeriod, Occurrence, PrismWatch, WatchedAnswers};
use serde::Serialize;

use crate::commands::period;
use crate::output;

/// A question's drift; undefined figures are null.
#[derive(Serialize)]
struct QuestionLine<'a> {
    question: &'a str,
    window: PeriodJson,
    against: PeriodJson,
    shares: Vec<ShareJson<'a>>,
    psi: Option<f64>,
    js: Option<f64>,
    alarm: bool,
    models: &'a [ModelJson<'a>],
}

#[derive(Serialize)]
struct PeriodJson {
    from: String,
    to: String,
    results: u64,
}

#[derive(Serialize)]
struct ShareJson<'a> {
    outcome: &'a str,
    now: Option<f64>,
    before: Option<f64>,
    difference: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

/// A model that answered; `since` is its first answer in the window, and null if it has none.
#[derive(Serialize)]
struct ModelJson<'a> {
    name: Option<&'a str>,
    now: u64,
    before: u64,
    since: Option<String>,
}

/// Prints a line for each question.
pub(super) fn print(watch: &PrismWatch) -> anyhow::Result<()> {
    let models: Vec<_> = watch.models.iter().map(ModelJson::of).collect();
    let mut questions = watch.questions.iter();
    questions.try_for_each(|watched| output::json(&line(watch, watched, &models)))
}

fn line<'a>(
    watch: &PrismWatch,
    watched: &'a WatchedAnswers,
    models: &'a [ModelJson<'a>],
) -> QuestionLine<'a> {
    let drift = &watched.drift.window;
    QuestionLine {
        question: watched.question.key.as_str(),
        window: PeriodJson::of(watch.window, drift.now),
        against: PeriodJson::of(watch.before, drift.before),
        shares: drift.shares.iter().map(ShareJson::of).collect(),
        psi: drift.probabilities.map(|it| it.psi),
        js: drift.probabilities.map(|it| it.js),
        alarm: watched.alarm.is_some(),
        models,
    }
}

impl PeriodJson {
    fn of(period: ComparedPeriod, results: u64) -> Self {
        Self {
            from: period::to_the_second(period.from),
            to: period::to_the_second(period.to),
            results,
        }
    }
}

impl<'a> ShareJson<'a> {
    fn of(share: &'a OutcomeShare) -> Self {
        let interval = share.change.interval();
        Self {
            outcome: share.outcome.as_str(),
            now: share.change.now.value(),
            before: share.change.before.value(),
            difference: share.change.difference(),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    }
}

impl<'a> ModelJson<'a> {
    fn of(model: &'a Occurrence<Option<String>>) -> Self {
        let since = |at: DateTime<Utc>| period::to_the_second(at);
        Self {
            name: model.value.as_deref(),
            now: model.now,
            before: model.before,
            since: model.since.map(since),
        }
    }
}
