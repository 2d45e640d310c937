//! Watching: what changed in a prism's answers without anybody's doing, in a window of time against
//! an earlier one or the marked sample.
//!
//! Results are counted by hour, once each ([`count_closed`]); a window's counts are the sum of its
//! hours and of the newest results, which are read. Every question is compared over the versions
//! that word it like the latest one: another wording may change the answers, as it should.

mod hours;
mod metrics;
mod prism_watch;
mod rounds;
mod window_counts;

use chrono::{DateTime, TimeDelta, Utc};
use refract_boxed_futures::boxed;
use refract_domain::ids::ResultId;
use refract_domain::key::QuestionKey;
use refract_domain::lens::{Cutoffs, Lens, cutoffs_of};
use refract_domain::prism::{Question, QuestionType};
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::drift::ShareChange;
use refract_evaluation::marked::predicted;
use refract_evaluation::measures::Proportion;
use refract_persistence::{LensRevision, MarkedResult, PrismHistory, ResultFilter};

use self::hours::{CountedHours, Uncounted, add_open, count_closed, first_watched, hour_of};
pub(crate) use self::metrics::WatchMetrics;
pub use self::prism_watch::{Occurrence, PrismWatch, WatchedAnswers};
pub use self::rounds::{WatchOutcome, WatchRounds};
pub use self::window_counts::{ComparedPeriod, WatchAgainst, WatchScope};
use self::window_counts::{WatchedHours, WindowCounts};
use crate::InternalError;
use crate::measures::Measures;
use crate::prisms::find_saved_version;

/// Results younger than this are read at each look. A result that is saved later than this after its
/// id was made, by a node whose clock is behind or after a database was away, may not be counted.
const OPEN: TimeDelta = TimeDelta::minutes(2);
/// The p-value below which newer marks show that cutoffs no longer hold.
const SIGNIFICANT: f64 = 0.01;

#[boxed]
impl Measures<'_> {
    /// Compares the answers of a prism in a window of time with earlier ones, at a moment.
    ///
    /// Counts the results that are not counted yet, which takes long at the first look at a prism
    /// with many results; later looks read stored counts. Where nothing can be written, every look
    /// takes as long.
    pub async fn watch(
        self,
        history: &PrismHistory,
        scope: WatchScope,
        now: DateTime<Utc>,
    ) -> Result<PrismWatch, InternalError> {
        let database = &self.refract.database;
        let uncounted = Uncounted {
            prism: history.prism.id,
            from: first_watched(now),
            up_to: ResultId::first_of(now - OPEN).just_before(),
        };
        if let Err(error) = count_closed(database, uncounted, async |_| true).await {
            // a standby, or a user who may only read: what is not counted is read below
            tracing::debug!(%error, "results could not be counted by hour");
        }
        let kept = scope.stored(database, history.prism.id, now).await?;
        let mut hours = CountedHours::of_rows(kept.hours)?;
        let first = scope.first_result(now);
        let open = Uncounted {
            prism: history.prism.id,
            from: kept.up_to.unwrap_or(first).max(first),
            up_to: ResultId::HIGHEST,
        };
        add_open(database, open, &mut hours).await?;
        self.compare_windows(history, &hours, scope, now).await
    }

    /// Compares as [`Measures::watch`] does, but only results that are counted already: nodes count
    /// them within minutes. It takes milliseconds, however many results there are.
    pub async fn watch_counted(
        self,
        history: &PrismHistory,
        scope: WatchScope,
        now: DateTime<Utc>,
    ) -> Result<PrismWatch, InternalError> {
        let database = &self.refract.database;
        let kept = scope.stored(database, history.prism.id, now).await?;
        let hours = CountedHours::of_rows(kept.hours)?;
        self.compare_windows(history, &hours, scope, now).await
    }

    async fn compare_windows(
        self,
        history: &PrismHistory,
        hours: &CountedHours,
        scope: WatchScope,
        now: DateTime<Utc>,
    ) -> Result<PrismWatch, InternalError> {
        let database = &self.refract.database;
        let watched = WatchedHours::choose(hours, scope, now);
        let end = hour_of(now) + 1;
        let count = |from, to| WindowCounts::of_hours(history, hours, from, to);
        let window = count(watched.window, end);
        let newest = watched.newest.map(|newest| count(newest, end));
        let before = match scope.against {
            WatchAgainst::Before(_) => count(watched.before, watched.window),
            WatchAgainst::Marks => WindowCounts::of_marks(database, history).await?,
        };
        let prism = history.prism.id;
        let revisions = database.list_lens_revisions(prism, MOST_REVISIONS).await?;
        Ok(PrismWatch::compare(
            history, window, newest, before, &revisions, now,
        ))
    }
}

/// The newest states of a lens that are looked at.
const MOST_REVISIONS: u32 = 200;

/// How often the labels of a question's cutoffs are right, on marks that were made since the cutoffs
/// were set and on earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct CutoffCheck {
    /// The question, a Yes / No.
    pub question: QuestionKey,
    /// The cutoffs, which somebody set.
    pub cutoffs: Cutoffs,
    /// When the cutoffs were set.
    pub since: DateTime<Utc>,
    /// The share of right ones among the labels other than unsure, on newer marks (`now`) and on
    /// earlier ones (`before`).
    pub right: ShareChange,
}

impl CutoffCheck {
    /// Whether newer marks show no loss; `None` without newer or without earlier marks.
    pub fn holds(&self) -> Option<bool> {
        let difference = self.right.difference()?;
        Some(difference >= 0.0 || self.right.p() >= SIGNIFICANT)
    }
}

#[boxed]
impl Measures<'_> {
    /// Checks the cutoffs that somebody set in a prism's lens on the marks that are a fair sample.
    pub async fn check_cutoffs(
        self,
        history: &PrismHistory,
    ) -> Result<Vec<CutoffCheck>, InternalError> {
        let database = &self.refract.database;
        let prism = history.prism.id;
        let revisions = database.list_lens_revisions(prism, MOST_REVISIONS).await?;
        let mut checks = set_cutoffs(history, &revisions);
        if checks.is_empty() {
            return Ok(checks);
        }
        let mut pages = database.marked_pages(prism, ResultFilter::default());
        while let Some(page) = pages.next().await? {
            for result in page {
                let version = find_saved_version(database, prism, result.version).await?;
                for check in &mut checks {
                    let question = version.question(&check.question);
                    if let Some(question) = question {
                        check.add(question, &result);
                    }
                }
            }
        }
        Ok(checks)
    }
}

impl CutoffCheck {
    fn add(&mut self, question: &Question, result: &MarkedResult) {
        let mut marks = result.marks.iter();
        let mark = marks.find(|mark| mark.question == self.question);
        let mark = mark.filter(|mark| MarksFrom::Random.counts(mark.source));
        let answer = result.answers.get(&self.question);
        let Some((mark, answer)) = mark.zip(answer) else {
            return;
        };
        if let Some(label) = predicted(question, answer, self.cutoffs) {
            let share = if mark.marked_at > self.since {
                &mut self.right.now
            } else {
                &mut self.right.before
            };
            *share += Proportion {
                count: u64::from(label == mark.outcome),
                of: 1,
            };
        }
    }
}

/// The cutoffs that somebody set in the lens as it is, each with the moment since when it has them.
fn set_cutoffs(history: &PrismHistory, revisions: &[LensRevision]) -> Vec<CutoffCheck> {
    let (Lens::Custom(columns), Some(latest)) = (&history.lens, history.versions.last()) else {
        return Vec::new();
    };
    let questions = latest.questions().iter();
    let yes_no = questions.filter(|it| it.question_type() == QuestionType::YesNo);
    let checks = yes_no.filter_map(|question| {
        let cutoffs = cutoffs_of(columns, &question.key);
        if cutoffs == Cutoffs::AUTOMATIC {
            return None;
        }
        let has_them = |revision: &&LensRevision| match &revision.lens {
            Lens::Custom(columns) => cutoffs_of(columns, &question.key) == cutoffs,
            Lens::Automatic => false,
        };
        let since = revisions.iter().take_while(has_them).last()?;
        Some(CutoffCheck {
            question: question.key.clone(),
            cutoffs,
            since: since.saved.as_ref()?.made_at,
            right: ShareChange::default(),
        })
    });
    checks.collect()
}
