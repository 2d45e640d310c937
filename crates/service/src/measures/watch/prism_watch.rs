//! What a look at a prism finds.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use refract_domain::lens::cutoffs_of;
use refract_domain::prism::{PrismVersion, Question, VersionNumber};
use refract_evaluation::drift::{
    Alarm, QuestionDrift, ResultTally, ShareChange, WatchedQuestion, WatchedSpan, alarms,
};
use refract_evaluation::measures::Proportion;
use refract_persistence::{LensRevision, PrismHistory};

use super::window_counts::{ComparedPeriod, Seen, WindowCounts};

/// What changed in a prism's answers in a window of time, against another.
#[derive(Clone, Debug)]
pub struct PrismWatch {
    /// The window.
    pub window: ComparedPeriod,
    /// The newest results of the window, in which changes are looked for too; `None` if they are
    /// most of it.
    pub newest: Option<ComparedPeriod>,
    /// The period that the window is compared with.
    pub before: ComparedPeriod,
    /// The questions of the latest version, in its order.
    pub questions: Vec<WatchedAnswers>,
    /// Counts of the window's results.
    pub results_now: ResultTally,
    /// Counts of the results before.
    pub results_before: ResultTally,
    /// The models that answered, as their servers report them.
    pub models: Vec<Occurrence<Option<String>>>,
    /// The versions of the gateway's prompts that were used.
    pub prompts: Vec<Occurrence<Option<i32>>>,
    /// The versions of the prism that answered.
    pub versions: Vec<Occurrence<VersionNumber>>,
    /// When the lens was changed in the window, oldest first. The current lens labels the answers
    /// of both periods, so that its changes are no drift.
    pub lens_changes: Vec<DateTime<Utc>>,
}

/// The drift of a question's answers.
#[derive(Clone, Debug)]
pub struct WatchedAnswers {
    /// The question.
    pub question: Question,
    /// The drift of the window, and of its newest results.
    pub drift: WatchedQuestion,
    /// What is more than chance.
    pub alarm: Option<Alarm>,
}

/// A value that results have, such as their model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence<T> {
    /// The value.
    pub value: T,
    /// Number of answered results in the window.
    pub now: u64,
    /// Number of answered results before.
    pub before: u64,
    /// The moment of the first result in the window; `None` if there is none.
    pub since: Option<DateTime<Utc>>,
}

impl PrismWatch {
    pub(super) fn compare(
        history: &PrismHistory,
        window: WindowCounts,
        newest: Option<WindowCounts>,
        before: WindowCounts,
        revisions: &[LensRevision],
        now: DateTime<Utc>,
    ) -> Self {
        let latest = history.versions.last();
        let columns = latest.map_or(&[][..], |latest| latest.columns(&history.lens));
        let questions = latest.map(PrismVersion::questions).unwrap_or_default();
        let drifts = questions
            .iter()
            .enumerate()
            .filter_map(|(place, question)| {
                let cutoffs = cutoffs_of(columns, &question.key);
                let reference = before.answers.get(place)?;
                let drift = |window: &WindowCounts| {
                    let answers = window.answers.get(place)?;
                    Some(QuestionDrift::between(
                        question, cutoffs, answers, reference,
                    ))
                };
                let drift = WatchedQuestion {
                    window: drift(&window)?,
                    newest: newest.as_ref().and_then(drift),
                };
                Some((question.clone(), drift))
            });
        let (questions, drifts): (Vec<_>, Vec<_>) = drifts.unzip();
        let alarms = alarms(&drifts);
        let watched = questions.into_iter().zip(drifts).zip(alarms);
        let until_now = |period: ComparedPeriod| ComparedPeriod {
            to: period.to.min(now),
            ..period
        };
        let changes = revisions
            .iter()
            .filter_map(|it| Some(it.saved.as_ref()?.made_at));
        let mut lens_changes: Vec<_> = changes
            .filter(|at| *at >= window.period.from && *at <= now)
            .collect();
        lens_changes.sort_unstable();
        Self {
            window: until_now(window.period),
            newest: newest.map(|newest| until_now(newest.period)),
            before: before.period,
            questions: watched
                .map(|((question, drift), alarm)| WatchedAnswers {
                    question,
                    drift,
                    alarm,
                })
                .collect(),
            models: occurrences(&window.models, &before.models),
            prompts: occurrences(&window.prompts, &before.prompts),
            versions: occurrences(&window.versions, &before.versions),
            results_now: window.total,
            results_before: before.total,
            lens_changes,
        }
    }

    /// The share of failed results.
    pub fn failed(&self) -> ShareChange {
        self.share(|tally| tally.failed)
    }

    /// The share of results whose text the model server cut.
    pub fn truncated(&self) -> ShareChange {
        self.share(|tally| tally.truncated)
    }

    /// The models that answered in the window but not before, if any answered before.
    pub fn new_models(&self) -> impl Iterator<Item = &Occurrence<Option<String>>> {
        let has_before = self.models.iter().any(|model| model.before > 0);
        let models = self.models.iter();
        models.filter(move |model| has_before && model.before == 0)
    }

    fn share(&self, count: fn(&ResultTally) -> u64) -> ShareChange {
        let share = |tally: &ResultTally| Proportion {
            count: count(tally),
            of: tally.results,
        };
        ShareChange {
            now: share(&self.results_now),
            before: share(&self.results_before),
        }
    }
}

impl WatchedAnswers {
    /// The drift in which the alarm was found; that of the window without one.
    pub fn alarmed(&self) -> &QuestionDrift {
        match (&self.alarm, &self.drift.newest) {
            (Some(alarm), Some(newest)) if alarm.span == WatchedSpan::Newest => newest,
            (Some(_) | None, _) => &self.drift.window,
        }
    }
}

/// The values of both periods, in order.
fn occurrences<T: Ord + Clone>(
    now: &BTreeMap<T, Seen>,
    before: &BTreeMap<T, Seen>,
) -> Vec<Occurrence<T>> {
    let mut all: BTreeMap<&T, Occurrence<T>> = BTreeMap::new();
    let none = |value: &T| Occurrence {
        value: value.clone(),
        now: 0,
        before: 0,
        since: None,
    };
    for (value, seen) in now {
        let found = all.entry(value).or_insert_with(|| none(value));
        found.now = seen.results;
        found.since = Some(seen.first_at);
    }
    for (value, seen) in before {
        all.entry(value).or_insert_with(|| none(value)).before = seen.results;
    }
    all.into_values().collect()
}
