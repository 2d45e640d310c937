//! Stored retests as they are shown.

use chrono::{DateTime, Utc};
use refract_domain::ids::{AccountId, PrismId, RetestId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::retest::RetestState;
use refract_persistence::{PersistenceError, RetestCounts, RetestRow};
use serde::{Deserialize, Serialize};

use crate::measures::Retest;

/// What was found when the texts of a retest were drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DrawnTexts {
    /// Number of drawn texts that lack a field of the version.
    pub lacking_fields: u64,
    /// Number of drawn texts that are too large for the version.
    pub too_large: u64,
    /// Questions that are not compared on some drawn texts, each with the number of these texts.
    pub not_compared: Vec<(String, u64)>,
    /// Whether the texts are drawn from the newest
    /// [`SAMPLED_NEWEST`](crate::measures::SAMPLED_NEWEST) results only.
    pub is_of_newest: bool,
}

/// A stored retest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRetest {
    /// The retest's id.
    pub id: RetestId,
    /// The account that the retest belongs to.
    pub account: AccountId,
    /// The prism that is asked.
    pub prism: PrismId,
    /// The version that is asked; `None` for the one that answered each text.
    pub version: Option<VersionNumber>,
    /// The name of the model that is asked.
    pub model: String,
    /// What was found when the texts were drawn.
    pub drawn: DrawnTexts,
    /// What the retest is doing.
    pub state: RetestState,
    /// Why the retest failed.
    pub reason: Option<String>,
    /// Flips when a node last ended its work; `None` before.
    pub flips: Option<u64>,
    /// Counts of the texts.
    pub counts: RetestCounts,
    /// The name of the person who started the retest.
    pub by: Option<String>,
    /// When the retest was started.
    pub made_at: DateTime<Utc>,
    /// When the retest ended; `None` while it is under way.
    pub ended_at: Option<DateTime<Utc>>,
    /// Whether a node holds the retest now.
    pub is_leased: bool,
}

impl DrawnTexts {
    /// Adds what was found when a part of the texts was loaded.
    pub(super) fn add(&mut self, retest: &Retest) {
        self.lacking_fields += retest.lacking_fields;
        self.too_large += retest.too_large;
        for (question, texts) in &retest.not_compared {
            let mut counted = self.not_compared.iter_mut();
            match counted.find(|(key, _)| key == question.as_str()) {
                Some((_, counted)) => *counted += texts,
                None => self.not_compared.push((question.to_string(), *texts)),
            }
        }
    }
}

impl StoredRetest {
    pub(super) fn of(
        row: RetestRow,
        counts: RetestCounts,
        by: Option<String>,
        now: DateTime<Utc>,
    ) -> Result<Self, PersistenceError> {
        let column = "retests.drawn";
        let unreadable = |_| PersistenceError::Unreadable { column };
        Ok(Self {
            id: row.id,
            account: row.account,
            prism: row.prism,
            version: row.version,
            model: row.model,
            drawn: serde_json::from_str(&row.drawn).map_err(unreadable)?,
            state: row.state,
            reason: row.reason,
            flips: row.flips,
            counts,
            by,
            made_at: row.made_at,
            ended_at: row.ended_at,
            is_leased: row.lease_until.is_some_and(|until| until > now),
        })
    }

    /// Whether a person can let the retest continue: it ended, and some texts have no new answers.
    pub fn can_continue(&self) -> bool {
        !self.state.is_under_way() && self.counts.answered < self.counts.texts
    }
}
