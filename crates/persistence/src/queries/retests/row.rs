//! The rows of stored retests.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::ids::{AccountId, PersonId, PrismId, RetestId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::retest::RetestState;

use crate::error::PersistenceError;
use crate::schema::retests;

/// A stored retest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetestRow {
    /// `UUIDv7`.
    pub id: RetestId,
    /// The account that the retest belongs to.
    pub account: AccountId,
    /// The prism that is asked.
    pub prism: PrismId,
    /// The version that is asked; `None` for the one that answered each text.
    pub version: Option<VersionNumber>,
    /// The name of the model that is asked.
    pub model: String,
    /// What was left out when the texts were drawn, as the use case wrote it.
    pub drawn: String,
    /// What the retest is doing.
    pub state: RetestState,
    /// Why the retest failed.
    pub reason: Option<String>,
    /// Flips when the last lease ended; `None` before.
    pub flips: Option<u64>,
    /// The person who started the retest.
    pub made_by: Option<PersonId>,
    /// When the retest was made.
    pub made_at: DateTime<Utc>,
    /// When the retest ended; `None` while it is under way.
    pub ended_at: Option<DateTime<Utc>>,
    /// Until when a node holds the retest, at the latest.
    pub lease_until: Option<DateTime<Utc>>,
}

/// Counts of the texts of a retest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetestCounts {
    /// Texts that were drawn, without those of results that were deleted since.
    pub texts: u64,
    /// Texts with new answers.
    pub answered: u64,
    /// Texts to which the model gave no answer.
    pub failed: u64,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = retests)]
pub(super) struct RetestColumns {
    id: RetestId,
    account_id: AccountId,
    prism_id: PrismId,
    version: Option<i32>,
    model: String,
    drawn: String,
    state: String,
    reason: Option<String>,
    flips: Option<i64>,
    made_by: Option<PersonId>,
    made_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
    lease_until: Option<DateTime<Utc>>,
}

impl TryFrom<RetestColumns> for RetestRow {
    type Error = PersistenceError;

    fn try_from(columns: RetestColumns) -> Result<Self, PersistenceError> {
        let unreadable = |column| PersistenceError::Unreadable { column };
        let version = columns.version.map(|number| {
            let version = VersionNumber::new(number);
            version.ok_or(unreadable("retests.version"))
        });
        Ok(Self {
            id: columns.id,
            account: columns.account_id,
            prism: columns.prism_id,
            version: version.transpose()?,
            model: columns.model,
            drawn: columns.drawn,
            state: saved_state(&columns.state)?,
            reason: columns.reason,
            flips: columns.flips.and_then(|flips| u64::try_from(flips).ok()),
            made_by: columns.made_by,
            made_at: columns.made_at,
            ended_at: columns.ended_at,
            lease_until: columns.lease_until,
        })
    }
}

/// The state that a row names.
pub(super) fn saved_state(name: &str) -> Result<RetestState, PersistenceError> {
    let column = "retests.state";
    RetestState::parse(name).ok_or(PersistenceError::Unreadable { column })
}
