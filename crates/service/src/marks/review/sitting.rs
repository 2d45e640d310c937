//! A sitting: the results of a queue and what a person judged. And what the marks of a fair sample
//! measure.

use chrono::{DateTime, TimeDelta, Utc};
use refract_boxed_futures::boxed;
use refract_domain::ids::{PersonId, PrismId, ResultId, SittingId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::cutoffs_of;
use refract_domain::prism::VersionNumber;
use refract_domain::result::mark::{MarkSource, MarksFrom};
use refract_evaluation::marked::predicted;
use refract_evaluation::measures::RightAnswers;
use refract_persistence::{PersistenceError, ResultFilter, SittingRow};
use serde::{Deserialize, Serialize};

use super::QueueKind;
use crate::InternalError;
use crate::lenses::PrismLens;
use crate::marks::Marks;
use crate::prisms::find_saved_version;

/// How long a sitting that nobody uses is kept.
pub(super) const KEPT: TimeDelta = TimeDelta::days(7);
/// Most sittings that are listed for a person.
const MOST_LISTED: u32 = 5;

/// A person at work on a queue.
#[derive(Clone, Debug)]
pub struct Sitting {
    /// The sitting's id.
    pub id: SittingId,
    /// The prism of the results.
    pub prism: PrismId,
    /// When the person last judged or saw a result.
    pub used_at: DateTime<Utc>,
    pub(super) state: SittingState,
}

/// What is saved of a sitting.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "answers of a form, independent of each other"
)]
pub(super) struct SittingState {
    pub(super) kind: QueueKind,
    pub(super) question: Option<QuestionKey>,
    pub(super) is_blind: bool,
    pub(super) is_fair: bool,
    #[serde(default)]
    pub(super) is_shared: bool,
    /// Whether there were more results than were looked at.
    pub(super) is_of_newest: bool,
    pub(super) results: Vec<ResultId>,
    pub(super) steps: Vec<ReviewStep>,
    /// The version that all results are of; `None` for any.
    pub(super) version: Option<VersionNumber>,
    /// The period that all results are of.
    pub(super) since: Option<DateTime<Utc>>,
    pub(super) until: Option<DateTime<Utc>>,
}

/// A judgement of a sitting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewStep {
    /// The judged result.
    pub result: ResultId,
    /// The judged question.
    pub question: QuestionKey,
    /// The marked outcome; `None` where the person could not tell.
    pub outcome: Option<OutcomeKey>,
    /// Whether the answer is the marked outcome; `None` where nothing was marked or predicted.
    pub is_right: Option<bool>,
}

impl Sitting {
    /// The kind of the queue.
    pub fn kind(&self) -> QueueKind {
        self.state.kind
    }

    /// The question that is judged; `None` for all questions.
    pub fn question(&self) -> Option<&QuestionKey> {
        self.state.question.as_ref()
    }

    /// Whether answers are hidden until they are judged.
    pub fn is_blind(&self) -> bool {
        self.state.is_blind
    }

    /// Whether the sitting settles what people differ about.
    pub fn settles(&self) -> bool {
        self.state.kind == QueueKind::Differ
    }

    /// Whether the queue also has what other people marked.
    pub fn is_shared(&self) -> bool {
        self.state.is_shared
    }

    /// Whether the queue looked at the newest results alone.
    pub fn is_of_newest(&self) -> bool {
        self.state.is_of_newest
    }

    /// The source of the sitting's marks.
    pub fn source(&self) -> MarkSource {
        self.state.kind.source(self.state.is_fair)
    }

    /// Number of results in the queue.
    pub fn results(&self) -> usize {
        self.state.results.len()
    }

    /// What was judged, in order. Steps that were undone are gone.
    pub fn steps(&self) -> &[ReviewStep] {
        &self.state.steps
    }

    /// The version that all results of the queue are of; `None` for any.
    pub fn version(&self) -> Option<VersionNumber> {
        self.state.version
    }

    /// Whether all results of the queue are of a period.
    pub fn is_of_period(&self) -> bool {
        self.state.since.is_some() || self.state.until.is_some()
    }
}

/// The column of the states, as errors name it.
const STATE: &str = "review_sittings.state";

impl SittingState {
    /// The state as it is saved.
    pub(super) fn json(&self) -> Result<String, PersistenceError> {
        let column = STATE;
        serde_json::to_string(self).map_err(|_| PersistenceError::Unreadable { column })
    }
}

#[boxed]
impl Marks<'_> {
    /// Finds a sitting of a person with a prism.
    pub async fn find_sitting(
        self,
        person: PersonId,
        prism: PrismId,
        id: SittingId,
    ) -> Result<Option<Sitting>, InternalError> {
        let found = self.refract.database.find_sitting(person, id).await?;
        let found = found.filter(|row| row.prism == prism);
        Ok(found.map(Sitting::try_from).transpose()?)
    }

    /// The sittings of a person with a prism, the last used first.
    pub async fn sittings(
        self,
        person: PersonId,
        prism: PrismId,
    ) -> Result<Vec<Sitting>, InternalError> {
        let database = &self.refract.database;
        let rows = database.list_sittings(person, prism, MOST_LISTED).await?;
        let sittings = rows.into_iter().map(Sitting::try_from);
        Ok(sittings.collect::<Result<_, _>>()?)
    }

    /// The other people who review a prism now, each with the result on their screen.
    pub async fn reviewing(
        self,
        person: PersonId,
        prism: PrismId,
    ) -> Result<Vec<(PersonId, ResultId)>, InternalError> {
        let database = &self.refract.database;
        let mut shown = database.list_reviewing(prism, Utc::now()).await?;
        shown.retain(|(other, _)| *other != person);
        Ok(shown)
    }
}

impl TryFrom<SittingRow> for Sitting {
    type Error = PersistenceError;

    fn try_from(row: SittingRow) -> Result<Self, PersistenceError> {
        let column = STATE;
        let state = serde_json::from_str(&row.state);
        Ok(Self {
            id: row.id,
            prism: row.prism,
            used_at: row.used_at,
            state: state.map_err(|_| PersistenceError::Unreadable { column })?,
        })
    }
}

/// Most marks of a question that are measured between two texts: reading them takes up to 0.1 s. So
/// many know the share of right answers to about one percent, and a few more do not change it.
const MEASURED: u64 = 5_000;

/// The random and imported marks of a question, as they are now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// How many of the answers of the queue's version and period are right.
    Measured(RightAnswers),
    /// There are so many marks of the question, of all versions, that none was read.
    TooMany(u64),
}

#[boxed]
impl Marks<'_> {
    /// What the random and imported marks of a question measure now, of the version and the period
    /// of a sitting; `None` for a queue that is no fair sample. The figures are those of
    /// [`Measures::quality`](crate::measures::Measures::quality).
    pub async fn standing(
        self,
        lens: &PrismLens,
        sitting: &Sitting,
        question: &QuestionKey,
    ) -> Result<Option<Standing>, InternalError> {
        let (state, prism) = (&sitting.state, lens.prism.id);
        if !state.is_fair {
            return Ok(None);
        }
        let database = &self.refract.database;
        let from = MarksFrom::Random;
        let marks = database.count_fair_marks(prism, question).await?;
        if marks > MEASURED {
            return Ok(Some(Standing::TooMany(marks)));
        }
        let filter = ResultFilter {
            version: state.version,
            since: state.since,
            until: state.until,
            ..ResultFilter::default()
        };
        let cutoffs = cutoffs_of(lens.columns().lens, question);
        let mut right = RightAnswers::default();
        let mut pages = database.marked_answers(prism, filter, question);
        while let Some(page) = pages.next().await? {
            for result in &page {
                let version = find_saved_version(database, prism, result.version).await?;
                let answered = version.question(question).zip(result.answer.as_ref());
                let counting = answered.filter(|_| from.counts(result.source));
                if let Some((question, answer)) = counting {
                    right.add(predicted(question, answer, cutoffs).as_ref(), &result.mark);
                }
            }
        }
        Ok(Some(Standing::Measured(right)))
    }
}
