//! Drafts: what a person typed on a page of a prism and has not saved.
//!
//! A draft has a revision, which every change names and replaces (compare and swap), so that two
//! tabs of one person never overwrite each other. A discarded draft keeps its row without content:
//! a request that was still on its way finds a newer revision and does not bring the draft back.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::upsert::excluded;
use refract_boxed_futures::boxed;
use refract_domain::ids::{PersonId, PrismId};
use uuid::Uuid;

use crate::connections::find_as;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::drafts;
use crate::schema::sql_types::Bind;

/// What a draft is a draft of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftKind {
    /// A version of a prism, or a new prism.
    Version,
    /// The lens of a prism.
    Lens,
}

/// Whose draft of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftPlace {
    /// The person who typed the draft.
    pub person: PersonId,
    /// The prism; `None` for a prism that does not exist yet.
    pub prism: Option<PrismId>,
    /// What the draft is a draft of.
    pub kind: DraftKind,
}

/// A stored draft.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = drafts)]
pub struct StoredDraftRow {
    /// Counts the changes of the draft, from 1.
    pub revision: i32,
    /// What was typed, as the page wrote it; `None` once the draft was saved or discarded.
    pub content: Option<String>,
    /// When the draft was last changed.
    pub saved_at: DateTime<Utc>,
}

impl DraftKind {
    fn name(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Lens => "lens",
        }
    }
}

impl DraftPlace {
    /// The id in the column; the nil id for a new prism.
    fn prism_id(self) -> PrismId {
        self.prism.unwrap_or(PrismId::new(Uuid::nil()))
    }
}

#[boxed]
impl Database {
    /// Finds a draft; also one that was discarded, for its revision.
    pub async fn find_draft(
        &self,
        place: DraftPlace,
    ) -> Result<Option<StoredDraftRow>, PersistenceError> {
        let query = drafts::table
            .filter(drafts::person_id.eq(Bind(place.person)))
            .filter(drafts::prism_id.eq(Bind(place.prism_id())))
            .filter(drafts::kind.eq(place.kind.name()));
        find_as!(self, query.limit(1), StoredDraftRow).await
    }

    /// Replaces a draft of the revision before `row.revision`, or saves the first one. Returns
    /// whether it was saved: it is not when the draft has another revision meanwhile.
    ///
    /// # Errors
    /// When the person is gone, or the database fails.
    pub async fn replace_draft(
        &self,
        place: DraftPlace,
        row: StoredDraftRow,
    ) -> Result<bool, PersistenceError> {
        let columns = (
            drafts::person_id.eq(Bind(place.person)),
            drafts::prism_id.eq(Bind(place.prism_id())),
            drafts::kind.eq(place.kind.name()),
            drafts::revision.eq(row.revision),
            drafts::content.eq(row.content),
            drafts::saved_at.eq(Bind(row.saved_at)),
        );
        let insert = diesel::insert_into(drafts::table)
            .values(columns)
            .on_conflict((drafts::person_id, drafts::prism_id, drafts::kind))
            .do_update()
            .set((
                drafts::revision.eq(excluded(drafts::revision)),
                drafts::content.eq(excluded(drafts::content)),
                drafts::saved_at.eq(excluded(drafts::saved_at)),
            ));
        let is_next = (drafts::revision + 1).eq(excluded(drafts::revision));
        let save = diesel::query_dsl::methods::FilterDsl::filter(insert, is_next);
        Ok(self.execute(save).await? == 1)
    }
}
