//! A row of the table of prisms.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::ids::{AccountId, PrismId};
use refract_domain::prism::{PrismSelector, Slug, VersionNumber};

use crate::schema::prisms;
use crate::schema::stored::Stored;

/// A prism without its versions and its lens, which are read by number and by revision.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = prisms)]
pub struct Prism {
    /// `UUIDv7`.
    pub id: PrismId,
    /// The account that the prism belongs to.
    #[diesel(column_name = account_id)]
    pub account: AccountId,
    /// Unique in the account; never changes.
    #[diesel(deserialize_as = Stored<prisms::slug>)]
    pub slug: Slug,
    /// Display name, 1 to 200 characters.
    pub name: String,
    /// The version that answers when a call names none.
    #[diesel(deserialize_as = Stored<prisms::latest_version>)]
    pub latest_version: VersionNumber,
    /// The number of changes of the lens.
    pub lens_revision: i32,
    /// When the prism was made.
    pub created_at: DateTime<Utc>,
    /// When the prism was archived; an archived prism does not answer.
    pub archived_at: Option<DateTime<Utc>>,
}

impl Prism {
    /// Selects the prism by its id.
    pub fn selector(&self) -> PrismSelector {
        PrismSelector::Id(self.id)
    }
}

/// The outcome of a change to a prism that was decided on a row read earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The change was saved.
    Saved,
    /// The prism changed after the row was read, so nothing was saved: read it and decide again.
    Stale,
}
