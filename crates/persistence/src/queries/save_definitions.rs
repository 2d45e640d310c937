//! Several prisms with their versions and lenses, saved together or not at all.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::result::Error::RollbackTransaction;
use diesel_async::RunQueryDsl;
use refract_domain::ids::{AccountId, PersonId, PrismId};
use refract_domain::lens::Lens;
use refract_domain::prism::{PrismName, PrismVersion, VersionNumber};
use refract_domain::slug::Slug;

use crate::connections::in_transaction;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::lenses::lens_to_json;
use crate::queries::prism_changes::{ChangeColumns, ChangeKind, NewPrismChange};
use crate::queries::prism_row::{PrismRow, Writing};
use crate::queries::prism_versions::VersionColumns;
use crate::schema::sql_types::Bind;
use crate::schema::{prism_changes, prism_versions, prisms};

/// A prism as it is to be.
pub struct PrismDefinition<'a> {
    /// The prism that is made or changed.
    pub prism: DefinedPrism<'a>,
    /// Its display name.
    pub name: &'a PrismName,
    /// The version to save: the first of a new prism, else the next. `None` saves none.
    pub version: Option<&'a PrismVersion>,
    /// The lens to save; `None` leaves it as it is.
    pub lens: Option<&'a Lens>,
    /// What is noted as changes beside the version.
    pub changes: Vec<(ChangeKind, NewPrismChange)>,
}

/// The prism that a definition is of.
pub enum DefinedPrism<'a> {
    /// A prism that is to be made.
    New {
        /// `UUIDv7`.
        id: PrismId,
        /// Its slug, which must be free.
        slug: &'a Slug,
    },
    /// A prism that must still be as it was read.
    Read(&'a PrismRow),
}

/// The rows of one definition.
struct DefinitionRows {
    prism: PrismRow,
    /// The version and the lens that a prism must still have; `None` for a new one.
    read: Option<(VersionNumber, i32)>,
    /// `None` leaves the lens as it is.
    lens: Option<LensJson>,
    version: Option<VersionColumns>,
    changes: Vec<ChangeColumns>,
}

/// A lens as it is stored: no JSON for the automatic one.
struct LensJson(Option<String>);

impl DefinitionRows {
    fn new(
        account: AccountId,
        definition: &PrismDefinition<'_>,
        made_by: Option<PersonId>,
        now: DateTime<Utc>,
    ) -> Result<Self, PersistenceError> {
        let PrismDefinition {
            prism,
            name,
            version,
            lens,
            changes,
        } = definition;
        let mut row = match prism {
            DefinedPrism::Read(read) => (*read).clone(),
            DefinedPrism::New { id, slug } => PrismRow {
                id: *id,
                account,
                slug: (*slug).clone(),
                name: String::new(),
                latest_version: VersionNumber::FIRST,
                lens_revision: 0,
                created_at: now,
                archived_at: None,
            },
        };
        let read = match prism {
            DefinedPrism::New { .. } => None,
            DefinedPrism::Read(read) => Some((read.latest_version, read.lens_revision)),
        };
        name.as_str().clone_into(&mut row.name);
        if read.is_some() && version.is_some() {
            let next = row.latest_version.next();
            row.latest_version =
                next.ok_or(PersistenceError::Refused("no version is left".to_owned()))?;
        }
        row.lens_revision += i32::from(lens.is_some());
        let number = row.latest_version;
        let version =
            version.map(|version| VersionColumns::new(row.id, number, version, made_by, now));
        let changes = changes.iter();
        Ok(Self {
            lens: lens.map(lens_to_json).transpose()?.map(LensJson),
            version: version.transpose()?,
            changes: changes
                .map(|(kind, change)| change.row(row.id, *kind))
                .collect(),
            prism: row,
            read,
        })
    }
}

impl Database {
    /// Makes and changes prisms, all of them or none: none when a slug is taken, or when the latest
    /// version or the lens of a prism is no longer as it was read. One transaction.
    ///
    /// Definitions that may be saved at the same time must be in one order, such as that of their
    /// slugs, so that no two transactions wait for each other.
    ///
    /// # Errors
    /// When the database fails, or a prism has the highest version number.
    pub async fn save_definitions(
        &self,
        account: AccountId,
        definitions: &[PrismDefinition<'_>],
        made_by: Option<PersonId>,
        now: DateTime<Utc>,
    ) -> Result<Writing, PersistenceError> {
        let rows = definitions.iter();
        let rows = rows.map(|definition| DefinitionRows::new(account, definition, made_by, now));
        let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
        self.write(async move |mut connection| {
            let ended = in_transaction!(connection, |c| {
                for rows in rows {
                    let prism = rows.prism;
                    let written = match rows.read {
                        None => {
                            let values = (
                                prisms::id.eq(Bind(prism.id)),
                                prisms::account_id.eq(Bind(prism.account)),
                                prisms::slug.eq(prism.slug.as_str().to_owned()),
                                prisms::name.eq(prism.name),
                                prisms::latest_version.eq(prism.latest_version.get()),
                                prisms::lens_revision.eq(prism.lens_revision),
                                prisms::lens.eq(rows.lens.and_then(|lens| lens.0)),
                                prisms::created_at.eq(Bind(prism.created_at)),
                            );
                            let insert = diesel::insert_into(prisms::table).values(values);
                            let insert = insert
                                .on_conflict((prisms::account_id, prisms::slug))
                                .do_nothing();
                            insert.execute(c).await?
                        }
                        Some((latest_version, lens_revision)) => {
                            let unchanged = prisms::table
                                .filter(prisms::id.eq(Bind(prism.id)))
                                .filter(prisms::latest_version.eq(latest_version.get()))
                                .filter(prisms::lens_revision.eq(lens_revision));
                            let defined = (
                                prisms::name.eq(prism.name),
                                prisms::latest_version.eq(prism.latest_version.get()),
                                prisms::lens_revision.eq(prism.lens_revision),
                            );
                            match rows.lens {
                                None => diesel::update(unchanged).set(defined).execute(c).await?,
                                Some(LensJson(lens)) => {
                                    let defined = (defined, prisms::lens.eq(lens));
                                    diesel::update(unchanged).set(defined).execute(c).await?
                                }
                            }
                        }
                    };
                    if written == 0 {
                        return Err(RollbackTransaction);
                    }
                    if let Some(version) = rows.version {
                        let insert = diesel::insert_into(prism_versions::table).values(version);
                        insert.execute(c).await?;
                    }
                    for change in rows.changes {
                        let insert = diesel::insert_into(prism_changes::table).values(change);
                        insert.execute(c).await?;
                    }
                }
                QueryResult::Ok(())
            });
            match ended {
                Ok(()) => Ok(Writing::Saved),
                Err(RollbackTransaction) => Ok(Writing::Stale),
                Err(error) => Err(error.into()),
            }
        })
        .await
    }
}
