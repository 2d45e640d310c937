//! Lenses: saved with the prism, read by revision and cached, since a revision never changes.

pub(crate) mod revisions;

use std::sync::Arc;

use diesel::prelude::*;
use refract_domain::event::{EventStamp, LensChangeDetails};
use refract_domain::ids::PrismId;
use refract_domain::lens::Lens;
use refract_traces::StatementName;

pub use self::revisions::{LensRevision, LensSave};
use self::revisions::{LensRevisionColumns, keep_replaced_lens, lens_from_json, lens_to_json};
use crate::connections::on;
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
