//! The windows of time that are compared, and their counts: of all results, and of the answers to
//! each question as it is worded.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::prism::{PrismVersion, Question, VersionNumber};
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::drift::{AnswerTally, NEWEST_RESULTS, ResultTally};
use refract_persistence::{Database, KeptHours, PersistenceError, PrismHistory, ResultFilter};

use super::hours::{CountedHours, begin_of, hour_of};

/// The default window.
const WINDOW: TimeDelta = TimeDelta::days(1);
/// The default window reaches back as far as this if a day has fewer than [`NEWEST_RESULTS`].
const LARGEST_WINDOW: TimeDelta = TimeDelta::days(7);
/// The default window that it is compared with: long enough to have every day of the week.
const BEFORE: TimeDelta = TimeDelta::days(28);

/// A period of time whose results are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparedPeriod {
    /// The first moment.
    pub from: DateTime<Utc>,
    /// The moment after the last.
    pub to: DateTime<Utc>,
}

/// How many results have one value, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Number of answered results.
    pub(super) results: u64,
    /// The moment of the first result.
    pub(super) first_at: DateTime<Utc>,
}

/// The counts of a window.
#[derive(Clone, Debug)]
pub(super) struct WindowCounts {
    pub(super) period: ComparedPeriod,
    /// Counts of all results; none for the marked sample.
    pub(super) total: ResultTally,
    /// The answers to the questions of the latest version, in its order, by versions that word them
    /// alike.
    pub(super) answers: Vec<AnswerTally>,
    /// The models that answered.
    pub(super) models: BTreeMap<Option<String>, Seen>,
    /// The versions of prompts that were used.
    pub(super) prompts: BTreeMap<Option<i32>, Seen>,
    /// The versions of the prism that answered.
    pub(super) versions: BTreeMap<VersionNumber, Seen>,
}

impl WindowCounts {
    /// The counts from one hour on and before another.
    pub(super) fn of_hours(
        history: &PrismHistory,
        hours: &CountedHours,
        from: i32,
        to: i32,
    ) -> Self {
        let mut counts = Self::empty(history, begin_of(from), begin_of(to));
        for (key, hour) in hours.between(from, to) {
            counts.total += &hour.tally;
            let answered = hour.tally.results - hour.tally.failed;
            if answered > 0 {
                let seen = Seen {
                    results: answered,
                    first_at: hour.first_at,
                };
                see(&mut counts.models, key.model.clone(), seen);
                see(&mut counts.prompts, key.prompt_version, seen);
                see(&mut counts.versions, key.version, seen);
            }
            for (question, tally) in comparable(history, key.version).zip(&mut counts.answers) {
                let answers = question.and_then(|it| hour.tally.questions.get(&it.key));
                if let Some(answers) = answers {
                    *tally += answers;
                }
            }
        }
        counts
    }

    /// The counts of the results with marks that are a fair sample.
    pub(super) async fn of_marks(
        database: &Database,
        history: &PrismHistory,
    ) -> Result<Self, PersistenceError> {
        let (latest, earliest) = (DateTime::<Utc>::MAX_UTC, DateTime::<Utc>::MIN_UTC);
        let mut counts = Self::empty(history, latest, earliest);
        let mut pages = database.marked_pages(history.prism.id, ResultFilter::default());
        while let Some(page) = pages.next().await? {
            for result in page {
                let is_fair = |mark| MarksFrom::Random.counts(mark);
                if !result.marks.iter().any(|mark| is_fair(mark.source)) {
                    continue;
                }
                let first_at = result.id.moment();
                let seen = Seen {
                    results: 1,
                    first_at,
                };
                counts.period.from = counts.period.from.min(first_at);
                counts.period.to = counts.period.to.max(first_at);
                see(&mut counts.models, result.model, seen);
                see(&mut counts.versions, result.version, seen);
                let questions = comparable(history, result.version);
                for (question, tally) in questions.zip(&mut counts.answers) {
                    let answer = question.and_then(|it| result.answers.get(&it.key));
                    if let Some(answer) = answer {
                        tally.add(answer);
                    }
                }
            }
        }
        if counts.versions.is_empty() {
            let (from, to) = (DateTime::UNIX_EPOCH, DateTime::UNIX_EPOCH);
            counts.period = ComparedPeriod { from, to };
        }
        Ok(counts)
    }

    fn empty(history: &PrismHistory, from: DateTime<Utc>, to: DateTime<Utc>) -> Self {
        let latest = history.versions.last();
        let questions = latest.map_or(0, |latest| latest.questions().len());
        Self {
            period: ComparedPeriod { from, to },
            total: ResultTally::default(),
            answers: vec![AnswerTally::default(); questions],
            models: BTreeMap::new(),
            prompts: BTreeMap::new(),
            versions: BTreeMap::new(),
        }
    }
}

/// The questions of the latest version, each `None` if a version asks it otherwise: in other words,
/// with other options, about other fields or in another context.
fn comparable(
    history: &PrismHistory,
    version: VersionNumber,
) -> impl Iterator<Item = Option<&Question>> {
    let latest = history.versions.last();
    let place = usize::try_from(version.get()).ok();
    let place = place.and_then(|number| number.checked_sub(1));
    let version = place.and_then(|place| history.versions.get(place));
    let asks_alike = |latest: &PrismVersion, version: &PrismVersion| {
        version.fields() == latest.fields() && version.context() == latest.context()
    };
    let version = version.filter(|it| latest.is_some_and(|latest| asks_alike(latest, it)));
    let questions = latest.map(PrismVersion::questions).unwrap_or_default();
    questions.iter().map(move |question| {
        let asked = version?.question(&question.key)?;
        (asked == question).then_some(question)
    })
}

fn see<K: Ord>(all: &mut BTreeMap<K, Seen>, key: K, seen: Seen) {
    all.entry(key)
        .and_modify(|known| {
            known.results += seen.results;
            known.first_at = known.first_at.min(seen.first_at);
        })
        .or_insert(seen);
}

/// The windows that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchScope {
    /// The length of the window up to now, in whole hours; `None` for a day, or up to seven days
    /// where a day has fewer than 500 results.
    pub window: Option<TimeDelta>,
    /// What the window is compared with.
    pub against: WatchAgainst,
}

/// What a window is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchAgainst {
    /// The results of this time before the window.
    Before(TimeDelta),
    /// The results with marks that are a fair sample.
    Marks,
}

/// A day, against the 28 days before it.
impl Default for WatchScope {
    fn default() -> Self {
        Self {
            window: None,
            against: WatchAgainst::Before(BEFORE),
        }
    }
}

impl WatchScope {
    /// The stored counts of the hours that may be in one of the windows at a moment.
    pub(super) async fn stored(
        self,
        database: &Database,
        prism: PrismId,
        now: DateTime<Utc>,
    ) -> Result<KeptHours, PersistenceError> {
        let (first, end) = (self.first_hour(now), hour_of(now) + 1);
        database.list_watch_hours(prism, first, end).await
    }

    /// The first hour that may be in one of the windows at a moment.
    fn first_hour(self, now: DateTime<Utc>) -> i32 {
        let before = match self.against {
            WatchAgainst::Before(before) => before,
            WatchAgainst::Marks => TimeDelta::zero(),
        };
        let longest = self.window.unwrap_or(LARGEST_WINDOW);
        hour_of(now) - hours(longest) - hours(before)
    }

    /// The id before the results of the first hour.
    pub(super) fn first_result(self, now: DateTime<Utc>) -> ResultId {
        ResultId::first_of(begin_of(self.first_hour(now))).just_before()
    }
}

/// The first hours of the windows at one moment; all end now, or where the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WatchedHours {
    /// The first hour that the window is compared with.
    pub(super) before: i32,
    /// The first hour of the window.
    pub(super) window: i32,
    /// The first hour of the newest results; `None` if they are most of the window.
    pub(super) newest: Option<i32>,
}

impl WatchedHours {
    /// Chooses the windows by the numbers of results.
    pub(super) fn choose(counts: &CountedHours, scope: WatchScope, now: DateTime<Utc>) -> Self {
        let (last, end) = (hour_of(now), hour_of(now) + 1);
        let mut window = last - hours(scope.window.unwrap_or(WINDOW));
        let furthest = last - hours(scope.window.unwrap_or(LARGEST_WINDOW));
        let mut results = counts.results(window, end);
        while results < NEWEST_RESULTS && window > furthest {
            window -= 1;
            results += counts.results(window, window + 1);
        }
        let mut newest = end;
        let mut of_newest = 0;
        while of_newest < NEWEST_RESULTS && newest > window {
            newest -= 1;
            of_newest += counts.results(newest, newest + 1);
        }
        let before = match scope.against {
            WatchAgainst::Before(before) => window - hours(before),
            WatchAgainst::Marks => window,
        };
        Self {
            before,
            window,
            newest: (2 * of_newest <= results && newest > window).then_some(newest),
        }
    }
}

/// The whole hours of a time.
fn hours(time: TimeDelta) -> i32 {
    i32::try_from(time.num_hours()).unwrap_or(i32::MAX / 4)
}
