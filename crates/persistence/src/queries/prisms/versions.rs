//! Prism versions: saved once and cached, since a version never changes.

use refract_boxed_futures::boxed;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::event::{Event, EventAction, EventStamp, EventTarget, LensChangeDetails};
use refract_domain::ids::{PersonId, PrismId};
use refract_domain::lens::Lens;
use refract_domain::prism::{DisplayName, PrismVersion, VersionNumber};
use refract_traces::StatementName;

use crate::connections::{for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::lenses::{
    LensRevisionColumns, keep_replaced_lens, lens_from_json, lens_to_json,
};
use crate::queries::prisms::changes::{lens_changed, renamed};
use crate::queries::prisms::row::{Prism, WriteOutcome};
use crate::schema::sql_types::Bind;
use crate::schema::{lens_revisions, prism_versions, prisms};

/// A version to be saved.
pub struct NewVersion<'a> {
    /// The prism's new display name.
    pub name: &'a DisplayName,
    /// The version.
    pub version: &'a PrismVersion,
    /// The prism's new lens, and what it changes; `None` leaves the lens and its revision as they
    /// are.
    pub lens: Option<(&'a Lens, LensChangeDetails)>,
    /// Who saves the version, and when.
    pub stamp: EventStamp,
}

/// A prism with its lens and all its versions.
#[derive(Clone, Debug)]
pub struct PrismHistory {
    /// The prism.
    pub prism: Prism,
    /// The prism's lens, in the revision that `prism` names.
    pub lens: Lens,
    /// Every version up to the latest that `prism` names, oldest first.
    pub versions: Vec<PrismVersion>,
}

#[derive(Insertable)]
#[diesel(table_name = prism_versions)]
#[diesel(treat_none_as_default_value = false)]
pub(crate) struct VersionColumns {
    #[diesel(serialize_as = Bind<PrismId>)]
    prism_id: PrismId,
    version: i32,
    definition: String,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    created_at: DateTime<Utc>,
    made_by: Option<PersonId>,
}

impl VersionColumns {
    pub(crate) fn new(
        prism: PrismId,
        number: VersionNumber,
        version: &PrismVersion,
        stamp: &EventStamp,
    ) -> Result<Self, PersistenceError> {
        let json = serde_json::to_string(version)
            .map_err(|_| PersistenceError::Refused("a prism version has no JSON".to_owned()))?;
        Ok(Self {
            prism_id: prism,
            version: number.get(),
            definition: json,
            created_at: stamp.at,
            made_by: stamp.actor.person(),
        })
    }
}

const OF_VERSION: StatementName = StatementName {
    operation: "SELECT",
    summary: "SELECT prism_versions",
};

#[boxed]
impl Database {
    /// Finds a version of a prism, in the cache if it is there.
    pub async fn find_version(
        &self,
        prism: PrismId,
        number: VersionNumber,
    ) -> Result<Option<Arc<PrismVersion>>, PersistenceError> {
        if let Some(cached) = self.cached.versions.get(&(prism, number)) {
            return Ok(Some(cached));
        }
        let query = prism_versions::table.find((Bind(prism), number.get()));
        let query = query.select(prism_versions::definition);
        let database = self.without_lanes();
        let reading = self.named(&OF_VERSION, database.find(query));
        let json: Option<String> = reading.await?;
        let Some(json) = json else {
            return Ok(None);
        };
        let version = Arc::new(version_from_json(&json)?);
        let key = (prism, number);
        let kept = Arc::clone(&version);
        self.cached.versions.insert(key, kept, json.len());
        Ok(Some(version))
    }

    /// Finds a prism with its lens and all its versions, as they were at one moment. Two queries:
    /// the versions that the second reads never change.
    pub async fn prism_history(
        &self,
        prism: PrismId,
    ) -> Result<Option<PrismHistory>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = prisms::table.find(Bind(prism));
            let found: Option<(Prism, Option<String>)> = on!(
                connection,
                get_result(query.select((Prism::as_select(), prisms::lens)))
            )
            .optional()?;
            let Some((row, lens)) = found else {
                return Ok(None);
            };
            let query = prism_versions::table
                .filter(prism_versions::prism_id.eq(Bind(prism)))
                .filter(prism_versions::version.le(row.latest_version.get()))
                .order(prism_versions::version)
                .select(prism_versions::definition);
            let versions: Vec<String> = on!(connection, load(query))?;
            let versions = versions.iter().map(|json| version_from_json(json));
            let versions = versions.collect::<Result<_, _>>()?;
            Ok(Some(PrismHistory {
                prism: row,
                lens: lens_from_json(lens.as_deref())?,
                versions,
            }))
        })
        .await
    }

    /// Saves the version after the latest of `read`, with the prism's name and lens, if the latest
    /// version and the lens are still those of `read`. One transaction, with an event for each of
    /// version, name and lens that changes.
    ///
    /// # Errors
    /// When the database fails, or the prism has the highest version number.
    pub async fn save_version(
        &self,
        read: &Prism,
        new: &NewVersion<'_>,
    ) -> Result<WriteOutcome, PersistenceError> {
        let number = read.latest_version.next();
        let number = number.ok_or(PersistenceError::Refused("no version is left".to_owned()))?;
        let version = VersionColumns::new(read.id, number, new.version, &new.stamp)?;
        let name = new.name.clone();
        let lens = match &new.lens {
            None => None,
            Some((lens, details)) => {
                let stamp = new.stamp.further().further();
                let next = read.lens_revision.saturating_add(1);
                let kept = LensRevisionColumns::new(&stamp, read.id, next, lens)?;
                let event = lens_changed(stamp, read.id, lens, details.clone());
                Some((lens_to_json(lens)?, kept, event))
            }
        };
        let renaming = new.stamp.further();
        let event = Event {
            from: Some(read.latest_version.into()),
            to: Some(number.into()),
            ..new
                .stamp
                .clone()
                .event(EventAction::VersionSaved, EventTarget::Prism(read.id))
        };
        let read = read.clone();
        self.begin(async move |mut tx| {
            let unchanged = prisms::table
                .filter(prisms::id.eq(Bind(read.id)))
                .filter(prisms::latest_version.eq(read.latest_version.get()))
                .filter(prisms::lens_revision.eq(read.lens_revision));
            let before = for_update(unchanged.select(prisms::name));
            let before: Option<String> = on!(tx, get_result(before)).optional()?;
            let Some(before) = before else {
                return Ok(WriteOutcome::Stale);
            };
            let latest = (
                prisms::latest_version.eq(number.get()),
                prisms::name.eq(name.as_str().to_owned()),
            );
            add_event(&mut tx, event).await?;
            if before != name.as_str() {
                add_event(&mut tx, renamed(renaming, read.id, before, name)).await?;
            }
            match lens {
                None => on!(tx, execute(diesel::update(unchanged).set(latest)))?,
                Some((lens, kept, event)) => {
                    add_event(&mut tx, event).await?;
                    keep_replaced_lens(&mut tx, read.id, read.lens_revision).await?;
                    let kept = diesel::insert_into(lens_revisions::table).values(kept);
                    on!(tx, execute(kept))?;
                    let revision = prisms::lens_revision.eq(prisms::lens_revision + 1);
                    let changes = (latest, prisms::lens.eq(lens), revision);
                    on!(tx, execute(diesel::update(unchanged).set(changes)))?
                }
            };
            let insert = diesel::insert_into(prism_versions::table).values(version);
            on!(tx, execute(insert))?;
            tx.commit().await?;
            Ok(WriteOutcome::Saved)
        })
        .await
    }
}

fn version_from_json(json: &str) -> Result<PrismVersion, PersistenceError> {
    let column = "prism_versions.definition";
    serde_json::from_str(json).map_err(|_| PersistenceError::Unreadable { column })
}
