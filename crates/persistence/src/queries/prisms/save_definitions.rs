//! Several prisms with their versions and lenses, saved together or not at all.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::event::{Event, EventAction, EventStamp, EventTarget, LensChangeDetails};
use refract_domain::ids::{AccountId, PrismId};
use refract_domain::lens::Lens;
use refract_domain::prism::{DisplayName, PrismVersion, Slug, VersionNumber};

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::lenses::{LensRevisionColumns, keep_replaced_lens, lens_to_json};
use crate::queries::prisms::changes::{ChangeColumns, ChangeKind, lens_changed, renamed};
use crate::queries::prisms::row::{Prism, WriteOutcome};
use crate::queries::prisms::versions::VersionColumns;
use crate::schema::sql_types::Bind;
use crate::schema::{lens_revisions, prism_changes, prism_versions, prisms};

/// The desired state of a prism.
pub struct PrismDefinition<'a> {
    /// The prism that is made or changed.
    pub prism: DefinedPrism<'a>,
    /// Its display name.
    pub name: &'a DisplayName,
    /// The version to save: the first of a new prism, else the next. `None` saves none.
    pub version: Option<&'a PrismVersion>,
    /// The lens to save, and what it changes; `None` leaves the lens as it is.
    pub lens: Option<(&'a Lens, LensChangeDetails)>,
    /// Who makes or changes the prism, when and why. The events of its version, its name and its
    /// lens each have the note.
    pub stamp: EventStamp,
}

/// The prism of a definition.
pub enum DefinedPrism<'a> {
    /// A prism to be created.
    New {
        /// `UUIDv7`.
        id: PrismId,
        /// Its slug, which must be free.
        slug: &'a Slug,
    },
    /// An existing prism, which must be unchanged since it was read.
    Read(&'a Prism),
}

/// The rows of one definition.
struct DefinitionRows {
    prism: DefinedRow,
    version: Option<VersionColumns>,
    kept_lens: Option<LensRevisionColumns>,
    changes: Vec<ChangeColumns>,
    events: Vec<Event>,
}

/// The row of a prism.
enum DefinedRow {
    New(NewColumns),
    Changed {
        read: Prism,
        columns: ChangedColumns,
        /// `None` leaves the lens as it is.
        lens: Option<LensColumn>,
    },
}

#[derive(Insertable)]
#[diesel(table_name = prisms)]
#[diesel(treat_none_as_default_value = false)]
struct NewColumns {
    #[diesel(serialize_as = Bind<PrismId>)]
    id: PrismId,
    #[diesel(serialize_as = Bind<AccountId>)]
    account_id: AccountId,
    slug: String,
    name: String,
    latest_version: i32,
    lens_revision: i32,
    lens: Option<String>,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    created_at: DateTime<Utc>,
}

#[derive(AsChangeset)]
#[diesel(table_name = prisms)]
struct ChangedColumns {
    name: String,
    latest_version: i32,
    lens_revision: i32,
}

/// A lens as it is stored: without JSON for the automatic lens.
#[derive(AsChangeset)]
#[diesel(table_name = prisms)]
#[diesel(treat_none_as_null = true)]
struct LensColumn {
    lens: Option<String>,
}

impl DefinitionRows {
    fn new(definition: &PrismDefinition<'_>) -> Result<Self, PersistenceError> {
        let PrismDefinition {
            name,
            version,
            lens,
            stamp,
            ..
        } = definition;
        let (id, read) = match definition.prism {
            DefinedPrism::New { id, .. } => (id, None),
            DefinedPrism::Read(read) => (read.id, Some(read)),
        };
        let number = match read {
            None => Some(VersionNumber::FIRST),
            Some(read) if version.is_some() => read.latest_version.next(),
            Some(read) => Some(read.latest_version),
        };
        let number = number.ok_or(PersistenceError::Refused("no version is left".to_owned()))?;
        let mut rows = Self {
            prism: definition.row(number)?,
            version: None,
            kept_lens: None,
            changes: Vec::new(),
            events: Vec::new(),
        };
        if let Some(version) = version {
            let columns = VersionColumns::new(id, number, version, stamp)?;
            rows.version = Some(columns);
            rows.events.push(version_event(stamp, id, read, number));
        }
        let stamp = further(stamp);
        if let Some(read) = read.filter(|read| read.name != name.as_str()) {
            let change = ChangeColumns::new(&stamp, id, ChangeKind::Renamed);
            let event = renamed(stamp.clone(), id, read.name.clone(), (*name).clone());
            rows.changes.push(change);
            rows.events.push(event);
        }
        let stamp = further(&stamp);
        if let Some((lens, details)) = lens {
            let kind = match lens {
                Lens::Custom(_) => ChangeKind::LensSet,
                Lens::Automatic => ChangeKind::LensReset,
            };
            rows.changes.push(ChangeColumns::new(&stamp, id, kind));
            let revision = read.map_or(0, |read| read.lens_revision);
            let next = revision.saturating_add(1);
            rows.kept_lens = Some(LensRevisionColumns::new(&stamp, id, next, lens)?);
            let event = lens_changed(stamp, id, lens, details.clone());
            rows.events.push(event);
        }
        Ok(rows)
    }
}

impl PrismDefinition<'_> {
    /// The row of the prism, whose latest version has this number.
    fn row(&self, number: VersionNumber) -> Result<DefinedRow, PersistenceError> {
        let lens = match &self.lens {
            None => None,
            Some((lens, _)) => Some(LensColumn {
                lens: lens_to_json(lens)?,
            }),
        };
        let revisions = i32::from(lens.is_some());
        let name = self.name.as_str().to_owned();
        Ok(match self.prism {
            DefinedPrism::New { id, slug } => DefinedRow::New(NewColumns {
                id,
                account_id: self.stamp.account,
                slug: slug.as_str().to_owned(),
                name,
                latest_version: number.get(),
                lens_revision: revisions,
                lens: lens.and_then(|column| column.lens),
                created_at: self.stamp.at,
            }),
            DefinedPrism::Read(read) => DefinedRow::Changed {
                columns: ChangedColumns {
                    name,
                    latest_version: number.get(),
                    lens_revision: read.lens_revision.saturating_add(revisions),
                },
                lens,
                read: read.clone(),
            },
        })
    }
}

/// The event of a version; the first version creates the prism.
fn version_event(
    stamp: &EventStamp,
    prism: PrismId,
    read: Option<&Prism>,
    number: VersionNumber,
) -> Event {
    let action = match read {
        None => EventAction::PrismCreated,
        Some(_) => EventAction::VersionSaved,
    };
    Event {
        from: read.map(|read| read.latest_version.into()),
        to: Some(number.into()),
        ..stamp.clone().event(action, EventTarget::Prism(prism))
    }
}

/// The stamp of a further event of one definition, with the same note: each event gives the reason.
fn further(stamp: &EventStamp) -> EventStamp {
    EventStamp {
        note: stamp.note.clone(),
        ..stamp.further()
    }
}

#[boxed]
impl Database {
    /// Creates and changes prisms with their events, all or none. None is saved when a slug is
    /// taken, or when the latest version, the lens or the name of a prism has changed since it was
    /// read. One transaction.
    ///
    /// Concurrent callers must pass definitions in one order, such as that of their slugs, so that
    /// no two transactions deadlock.
    ///
    /// # Errors
    /// When the database fails, or a prism has the highest version number.
    pub async fn save_definitions(
        &self,
        definitions: &[PrismDefinition<'_>],
    ) -> Result<WriteOutcome, PersistenceError> {
        let rows = definitions.iter().map(DefinitionRows::new);
        let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
        self.begin(async move |mut tx| {
            for rows in rows {
                let written = match rows.prism {
                    DefinedRow::New(columns) => {
                        let insert = diesel::insert_into(prisms::table).values(columns);
                        let insert = insert
                            .on_conflict((prisms::account_id, prisms::slug))
                            .do_nothing();
                        on!(tx, execute(insert))?
                    }
                    DefinedRow::Changed {
                        read,
                        columns,
                        lens,
                    } => {
                        if lens.is_some() {
                            keep_replaced_lens(&mut tx, read.id, read.lens_revision).await?;
                        }
                        let unchanged = prisms::table
                            .filter(prisms::id.eq(Bind(read.id)))
                            .filter(prisms::latest_version.eq(read.latest_version.get()))
                            .filter(prisms::lens_revision.eq(read.lens_revision))
                            .filter(prisms::name.eq(read.name));
                        let update = diesel::update(unchanged).set((columns, lens));
                        on!(tx, execute(update))?
                    }
                };
                if written == 0 {
                    return Ok(WriteOutcome::Stale);
                }
                if let Some(version) = rows.version {
                    let insert = diesel::insert_into(prism_versions::table).values(version);
                    on!(tx, execute(insert))?;
                }
                if let Some(kept) = rows.kept_lens {
                    let insert = diesel::insert_into(lens_revisions::table).values(kept);
                    on!(tx, execute(insert))?;
                }
                for change in rows.changes {
                    let insert = diesel::insert_into(prism_changes::table).values(change);
                    on!(tx, execute(insert))?;
                }
                for event in rows.events {
                    add_event(&mut tx, event).await?;
                }
            }
            tx.commit().await?;
            Ok(WriteOutcome::Saved)
        })
        .await
    }
}
