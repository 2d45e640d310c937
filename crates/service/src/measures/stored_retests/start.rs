//! Draws the texts of a retest, estimates its cost, and starts it, of a model whose name a person
//! types.

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{ResultId, RetestId};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::RetestState;
use refract_identity::people::AccountActor;
use refract_model_gateway::CostEstimate;
use refract_persistence::{CreateRetestOutcome, NewRetest, PersistenceError};
use uuid::Uuid;

use super::text_choice::TextChoice;
use super::{DrawnTexts, MOST_RETESTS_UNDER_WAY, Retests};
use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::measures::retest::{AskedWords, LOADED_AT_ONCE};
use crate::measures::{DrawnFrom, Retest};
use crate::results::{BudgetUsedUp, ColumnNotSearchable, SearchError};

/// Attempts at starting a retest while others are started.
const ATTEMPTS: usize = 8;
/// Most characters of a model's name.
const MOST: usize = 200;

/// What a person wants to be asked again.
#[derive(Clone, Debug, PartialEq)]
pub struct RetestPlan {
    /// Most texts, within [`RETEST_TEXTS`](super::RETEST_TEXTS), or of a draft within
    /// [`TRIAL_TEXTS`](super::TRIAL_TEXTS).
    pub texts: u16,
    /// Which texts are asked about.
    pub from: TextChoice,
    /// The model to ask, of the servers that the node has; `None` for the present one.
    pub model: Option<ModelName>,
    /// What to ask.
    pub version: PlannedVersion,
}

/// What a retest is to ask.
#[derive(Clone, Debug, PartialEq)]
pub enum PlannedVersion {
    /// The version that answered each text.
    OfEach,
    /// A saved version.
    Saved(VersionNumber),
    /// A person's draft of the next version.
    Draft(Arc<PrismVersion>),
}

impl From<Option<VersionNumber>> for PlannedVersion {
    fn from(version: Option<VersionNumber>) -> Self {
        version.map_or(Self::OfEach, Self::Saved)
    }
}

/// The estimate of a retest that is not started.
#[derive(Clone, Debug, PartialEq)]
pub struct RetestEstimate {
    /// The results whose texts would be asked about.
    results: Vec<ResultId>,
    /// What was found when they were drawn.
    pub drawn: DrawnTexts,
    /// The cost of asking about all of them.
    pub cost: CostEstimate,
}

/// Why a retest was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartRetestError {
    /// The prism is archived.
    #[error("the prism is archived, so the model is not asked")]
    PrismArchived,
    /// The prism has no version of this number.
    #[error("Prism version not found")]
    VersionNotFound,
    /// No answered result can be asked about again.
    #[error("there is no answered result that can be asked about again")]
    NoTexts,
    /// No answered result has a mark that counts.
    #[error("no answered result has a random or imported mark")]
    NoMarkedTexts,
    /// No marked answer to the question is wrong.
    #[error("no marked answer to this question is wrong")]
    NoWrongAnswers,
    /// The retest whose texts are to be asked about is gone.
    #[error("the texts that were asked about before are no longer known")]
    RetestGone,
    /// A filter names a column that the lens no longer has.
    #[error(transparent)]
    Column(#[from] ColumnNotSearchable),
    /// Nothing is left of the month's budget.
    #[error(transparent)]
    Budget(#[from] BudgetUsedUp),
    /// A retest of the prism is under way.
    #[error("a retest of this prism is under way")]
    UnderWay(RetestId),
    /// The account has as many retests under way as it may have.
    #[error(
        "{MOST_RETESTS_UNDER_WAY} retests of the account are under way: wait for one, or stop it"
    )]
    TooMany,
    /// The service failed.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

impl RetestEstimate {
    /// Number of texts.
    pub fn texts(&self) -> usize {
        self.results.len()
    }
}

#[boxed]
impl Retests<'_> {
    /// The name of the model that is asked unless a retest names another.
    ///
    /// # Errors
    /// When there is no model to ask.
    pub fn present_model(self) -> Result<String, InternalError> {
        Ok(self.refract.model()?.name().to_owned())
    }

    /// Draws the texts of a retest and estimates what asking about them costs. Saves nothing, and
    /// asks no model. At most a few hundred texts are in memory at a time.
    ///
    /// # Errors
    /// When there is no such version, nothing is marked for a retest of marked texts, or the database
    /// fails.
    pub async fn estimate(
        self,
        lens: &Arc<PrismLens>,
        plan: &RetestPlan,
    ) -> Result<RetestEstimate, StartRetestError> {
        let (database, measures) = (&self.refract.database, self.refract.measures());
        let asked = match &plan.version {
            PlannedVersion::OfEach => AskedWords::OfEach,
            PlannedVersion::Saved(number) => {
                let found = database.find_version(lens.prism.id, *number).await?;
                AskedWords::Version(found.ok_or(StartRetestError::VersionNotFound)?)
            }
            PlannedVersion::Draft(draft) => AskedWords::Draft(Arc::clone(draft)),
        };
        let chosen = self.choose(lens, &plan.from, plan.texts.into()).await?;
        let (chosen, drawn) = chosen.ok_or(StartRetestError::RetestGone)?;
        match &plan.from {
            TextChoice::Drawn(DrawnFrom::Marked) if chosen.is_empty() => {
                return Err(StartRetestError::NoMarkedTexts);
            }
            TextChoice::Wrong(_) if chosen.is_empty() => {
                return Err(StartRetestError::NoWrongAnswers);
            }
            TextChoice::Drawn(_)
            | TextChoice::Wrong(_)
            | TextChoice::Found { .. }
            | TextChoice::Again(_) => {}
        }
        let mut estimate = RetestEstimate {
            results: Vec::new(),
            drawn,
            cost: CostEstimate::default(),
        };
        for ids in chosen.chunks(LOADED_AT_ONCE) {
            let mut part = Retest::new(asked.clone(), lens, false);
            measures.load_retest_texts(&mut part, ids).await?;
            let cost = measures.retest_cost(&part, &HashMap::new())?;
            estimate.cost.requests += cost.requests;
            estimate.cost.tokens += cost.tokens;
            part.add_to(&mut estimate.drawn);
            estimate.results.extend(part.results());
        }
        Ok(estimate)
    }

    /// Starts a retest, which waits for a node. A prism has at most one under way.
    ///
    /// # Errors
    /// When the prism is archived, has no such version, no text to ask about or another retest under
    /// way, when the account has too many, or the database fails.
    pub async fn start(
        self,
        actor: &AccountActor,
        lens: &Arc<PrismLens>,
        plan: &RetestPlan,
    ) -> Result<RetestId, StartRetestError> {
        if lens.prism.archived_at.is_some() {
            return Err(StartRetestError::PrismArchived);
        }
        let model = match &plan.model {
            // the built-in scorer has no other name
            Some(name) => {
                let model = self.refract.model()?.clone().named(name.as_str());
                model.name().to_owned()
            }
            None => self.present_model()?,
        };
        self.refract.budgets().check(lens.prism.account).await?;
        let mut estimate = self.estimate(lens, plan).await?;
        if estimate.results.is_empty() {
            return Err(StartRetestError::NoTexts);
        }
        let id = RetestId::new(Uuid::now_v7());
        let mut about = vec![
            EventDetail::retest(id),
            EventDetail::counted(
                u64::try_from(estimate.texts()).unwrap_or(u64::MAX),
                estimate.drawn.from.noun(),
            ),
        ];
        let mut version = None;
        match &plan.version {
            PlannedVersion::OfEach => {}
            PlannedVersion::Saved(number) => {
                about.push(EventDetail::version(*number));
                version = Some(*number);
            }
            PlannedVersion::Draft(draft) => {
                about.push("a draft".into());
                estimate.drawn.draft = Some(PrismVersion::clone(draft));
            }
        }
        let new = NewRetest {
            id,
            prism: lens.prism.id,
            version,
            model,
            drawn: estimate.drawn,
            results: estimate.results,
        };
        for _ in 0..ATTEMPTS {
            let stamp = actor.event_stamp().noted(EventDetail::list(&about));
            let event = Event {
                to: Some(RetestState::Waiting.into()),
                ..stamp.event(
                    EventAction::RetestStarted,
                    EventTarget::Prism(lens.prism.id),
                )
            };
            let database = &self.refract.database;
            let creating = database.create_retest(new.clone(), MOST_RETESTS_UNDER_WAY, event);
            match creating.await? {
                CreateRetestOutcome::Created => return Ok(id),
                CreateRetestOutcome::UnderWay(other) => {
                    return Err(StartRetestError::UnderWay(other));
                }
                CreateRetestOutcome::TooMany => return Err(StartRetestError::TooMany),
                CreateRetestOutcome::Meanwhile => {}
            }
        }
        Err(StartRetestError::TooMany)
    }
}

impl From<SearchError> for StartRetestError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Column(column) => Self::Column(column),
            SearchError::Internal(error) => Self::Internal(error),
        }
    }
}

impl From<PersistenceError> for StartRetestError {
    fn from(error: PersistenceError) -> Self {
        Self::Internal(error.into())
    }
}

/// The name of a model, as the model's servers know it: 1 to 200 characters without control
/// characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName(String);

/// Why a text is not the name of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelNameError {
    /// The text is blank.
    #[error("the name of a model is not empty")]
    Empty,
    /// The text is too long.
    #[error("the name of a model has at most {MOST} characters")]
    TooLong,
    /// The text has a line break or another control character.
    #[error("the name of a model has no control characters")]
    Control,
}

impl ModelName {
    /// The name as it is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ModelName {
    type Err = ModelNameError;

    /// Parses a name, without the white space around it.
    fn from_str(text: &str) -> Result<Self, ModelNameError> {
        let name = text.trim();
        if name.is_empty() {
            Err(ModelNameError::Empty)
        } else if name.chars().count() > MOST {
            Err(ModelNameError::TooLong)
        } else if name.chars().any(char::is_control) {
            Err(ModelNameError::Control)
        } else {
            Ok(Self(name.to_owned()))
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_on_one_line() {
        let name = |text: &str| text.parse::<ModelName>().map(|name| name.0);
        assert_eq!(name(" org/model:7b \n"), Ok("org/model:7b".to_owned()));
        assert_eq!(name("  "), Err(ModelNameError::Empty));
        assert_eq!(name("a\nb"), Err(ModelNameError::Control));
        assert!(name(&"ä".repeat(200)).is_ok());
        assert_eq!(name(&"a".repeat(201)), Err(ModelNameError::TooLong));
    }
}
