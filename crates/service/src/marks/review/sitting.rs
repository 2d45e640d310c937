//! A sitting: the results of a queue and what a person judged.

use chrono::{DateTime, TimeDelta, Utc};
use refract_boxed_futures::boxed;
use refract_domain::ids::{PersonId, PrismId, ResultId, SittingId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::VersionNumber;
use refract_domain::result::mark::MarkSource;
use refract_persistence::{PersistenceError, SittingRow};
use serde::{Deserialize, Serialize};

use super::QueueKind;
use crate::InternalError;
use crate::marks::Marks;

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
