//! The rows of stored retests.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::ids::{AccountId, PersonId, PrismId, RetestId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::retest::RetestState;

use crate::schema::retests;
use crate::schema::stored::Stored;

/// A stored retest.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = retests)]
pub struct RetestRow {
    /// `UUIDv7`.
    pub id: RetestId,
    /// The account that the retest belongs to.
    #[diesel(column_name = account_id)]
    pub account: AccountId,
    /// The prism that is asked.
    #[diesel(column_name = prism_id)]
    pub prism: PrismId,
    /// The saved version that is asked; `None` for a draft, or for the one that answered each text.
    #[diesel(deserialize_as = Stored<retests::version>)]
    pub version: Option<VersionNumber>,
    /// The name of the model that is asked.
    pub model: String,
    /// How the texts were drawn and, for a draft, its words, as the use case wrote it.
    pub drawn: String,
    /// What the retest is doing.
    #[diesel(deserialize_as = Stored<retests::state>)]
    pub state: RetestState,
    /// Why the retest failed.
    pub reason: Option<String>,
    /// Flips when the last lease ended; `None` before.
    #[diesel(deserialize_as = Stored<retests::flips>)]
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
