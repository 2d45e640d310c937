//! Lenses: saved with the prism, read by revision and cached, since a revision never changes. Their
//! history has every lens that a prism had, by revision.
//!
//! A change of a lens adds its revision in the transaction of the change ([`keep_replaced_lens`]). It first
//! adds the replaced revision if that is missing, without a person or a moment: the lens from before
//! there was a history, or one that a node of an earlier release saved. A revision is missing for
//! ever only if two such nodes' saves followed each other.

use refract_boxed_futures::boxed;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::event::{EventDetail, EventStamp, LensChangeDetails};
use refract_domain::ids::{PersonId, PrismId};
use refract_domain::lens::{Column, Lens};
use refract_traces::StatementName;

use crate::connections::{Transaction, find_as, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::commit_with;
use crate::queries::prisms::changes::{ChangeColumns, ChangeKind, lens_changed};
use crate::queries::prisms::row::{Prism, WriteOutcome};
use crate::schema::sql_types::Bind;
use crate::schema::{lens_revisions, prism_changes, prisms};

const OF_LENS: StatementName = StatementName {
    operation: "SELECT",
    summary: "SELECT prisms",
};

#[boxed]
impl Database {
    /// Finds this revision of a prism's lens, from the cache if it is there. `None` when the lens
    /// was changed after the revision was read: read the prism again.
    pub async fn find_lens(
        &self,
        prism: PrismId,
        revision: i32,
    ) -> Result<Option<Arc<Lens>>, PersistenceError> {
        if let Some(cached) = self.cached.lenses.get(&(prism, revision)) {
            return Ok(Some(cached));
        }
        let query = prisms::table
            .filter(prisms::id.eq(Bind(prism)))
            .filter(prisms::lens_revision.eq(revision))
            .select(prisms::lens);
        let database = self.without_lanes();
        let reading = self.named(&OF_LENS, database.find(query));
        let json: Option<Option<String>> = reading.await?;
        let Some(json) = json else {
            return Ok(None);
        };
        let lens = Arc::new(lens_from_json(json.as_deref())?);
        let bytes = json.map_or(0, |json| json.len());
        let key = (prism, revision);
        self.cached.lenses.insert(key, Arc::clone(&lens), bytes);
        Ok(Some(lens))
    }

    /// Saves a lens, custom or automatic, if the prism's latest version and lens are still those of
    /// `read`. Each save is a new revision, recorded in the history of the lens, as a change of the
    /// prism and as an event with these details. One transaction.
    pub async fn save_lens(
        &self,
        read: &Prism,
        lens: &Lens,
        details: LensChangeDetails,
        stamp: EventStamp,
    ) -> Result<WriteOutcome, PersistenceError> {
        let json = lens_to_json(lens)?;
        let kind = match lens {
            Lens::Custom(_) => ChangeKind::LensSet,
            Lens::Automatic => ChangeKind::LensReset,
        };
        let change = ChangeColumns::new(&stamp, read.id, kind);
        let next = read.lens_revision.saturating_add(1);
        let kept = LensRevisionColumns::new(&stamp, read.id, next, lens)?;
        let event = lens_changed(stamp, read.id, lens, details);
        let read = read.clone();
        self.begin(async move |mut tx| {
            keep_replaced_lens(&mut tx, read.id, read.lens_revision).await?;
            let unchanged = prisms::table
                .filter(prisms::id.eq(Bind(read.id)))
                .filter(prisms::latest_version.eq(read.latest_version.get()))
                .filter(prisms::lens_revision.eq(read.lens_revision));
            let revision = prisms::lens_revision.eq(prisms::lens_revision + 1);
            let update = diesel::update(unchanged).set((prisms::lens.eq(json), revision));
            if on!(tx, execute(update))? == 0 {
                return Ok(WriteOutcome::Stale);
            }
            let kept = diesel::insert_into(lens_revisions::table).values(kept);
            on!(tx, execute(kept))?;
            let change = diesel::insert_into(prism_changes::table).values(change);
            on!(tx, execute(change))?;
            commit_with(tx, event).await?;
            Ok(WriteOutcome::Saved)
        })
        .await
    }
}

/// A lens that a prism has or had.
#[derive(Clone, Debug, PartialEq)]
pub struct LensRevision {
    /// The number of the revision.
    pub revision: i32,
    /// The lens.
    pub lens: Lens,
    /// When the lens was saved, by whom and why; `None` if that was not recorded.
    pub saved: Option<LensSave>,
}

/// Who saved a lens, when and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LensSave {
    /// The person; `None` for the terminal.
    pub made_by: Option<PersonId>,
    /// When the lens was saved.
    pub made_at: DateTime<Utc>,
    /// The reason, if one was given.
    pub note: Option<EventDetail>,
}

/// The row of a revision.
#[derive(Insertable, Queryable, Selectable)]
#[diesel(table_name = lens_revisions)]
#[diesel(treat_none_as_default_value = false)]
pub(crate) struct LensRevisionColumns {
    #[diesel(serialize_as = Bind<PrismId>)]
    prism_id: PrismId,
    revision: i32,
    lens: Option<String>,
    made_by: Option<PersonId>,
    made_at: Option<DateTime<Utc>>,
    note: Option<String>,
}

impl LensRevisionColumns {
    /// The revision of a lens that is saved with this stamp.
    pub(crate) fn new(
        stamp: &EventStamp,
        prism: PrismId,
        revision: i32,
        lens: &Lens,
    ) -> Result<Self, PersistenceError> {
        Ok(Self {
            prism_id: prism,
            revision,
            lens: lens_to_json(lens)?,
            made_by: stamp.actor.person(),
            made_at: Some(stamp.at),
            note: stamp.note.as_ref().map(|note| note.as_str().to_owned()),
        })
    }
}

/// Adds the revision that a change is about to replace, unless it is there, in the change's
/// transaction and before the change.
pub(crate) async fn keep_replaced_lens(
    tx: &mut Transaction,
    prism: PrismId,
    revision: i32,
) -> QueryResult<()> {
    let replaced = prisms::table
        .filter(prisms::id.eq(Bind(prism)))
        .filter(prisms::lens_revision.eq(revision))
        .select((prisms::id, prisms::lens_revision, prisms::lens));
    let insert = diesel::insert_into(lens_revisions::table)
        .values(replaced)
        .into_columns((
            lens_revisions::prism_id,
            lens_revisions::revision,
            lens_revisions::lens,
        ))
        .on_conflict_do_nothing();
    on!(tx, execute(insert))?;
    Ok(())
}

#[boxed]
impl Database {
    /// The newest revisions of a prism's lens in its history, newest first, at most `most`.
    ///
    /// # Errors
    /// When the database fails, or a lens cannot be read.
    pub async fn list_lens_revisions(
        &self,
        prism: PrismId,
        most: u32,
    ) -> Result<Vec<LensRevision>, PersistenceError> {
        let query = lens_revisions::table
            .filter(lens_revisions::prism_id.eq(Bind(prism)))
            .order(lens_revisions::revision.desc())
            .limit(most.into());
        load_as!(self, query, LensRevisionColumns).await
    }

    /// Finds a revision of a prism's lens in its history.
    ///
    /// # Errors
    /// When the database fails, or the lens cannot be read.
    pub async fn find_lens_revision(
        &self,
        prism: PrismId,
        revision: i32,
    ) -> Result<Option<LensRevision>, PersistenceError> {
        let query = lens_revisions::table.find((Bind(prism), revision));
        find_as!(self, query, LensRevisionColumns).await
    }
}

impl TryFrom<LensRevisionColumns> for LensRevision {
    type Error = PersistenceError;

    fn try_from(row: LensRevisionColumns) -> Result<Self, PersistenceError> {
        Ok(Self {
            revision: row.revision,
            lens: lens_from_json(row.lens.as_deref())?,
            saved: row.made_at.map(|made_at| LensSave {
                made_by: row.made_by,
                made_at,
                note: row.note.map(EventDetail::saved),
            }),
        })
    }
}

/// The JSON that is stored for a lens: the columns of a custom lens, `None` for the automatic lens.
pub(crate) fn lens_to_json(lens: &Lens) -> Result<Option<String>, PersistenceError> {
    match lens {
        Lens::Automatic => Ok(None),
        Lens::Custom(columns) => columns_to_json(columns).map(Some),
    }
}

fn columns_to_json(columns: &[Column]) -> Result<String, PersistenceError> {
    serde_json::to_string(columns)
        .map_err(|_| PersistenceError::Refused("a lens has no JSON".to_owned()))
}

pub(crate) fn lens_from_json(json: Option<&str>) -> Result<Lens, PersistenceError> {
    let Some(json) = json else {
        return Ok(Lens::Automatic);
    };
    let columns = serde_json::from_str(json);
    columns
        .map(Lens::Custom)
        .map_err(|_| PersistenceError::Unreadable {
            column: "prisms.lens",
        })
}
