//! Prisms themselves: their names, slugs and whether they are archived.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use refract_domain::ids::{AccountId, PersonId, PrismId};
use refract_domain::prism::{PrismName, PrismVersion, VersionNumber};
use refract_domain::slug::{PrismSelector, Slug};

use crate::connections::{in_transaction, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::prism_changes::{ChangeKind, NewPrismChange};
use crate::queries::prism_row::{PrismColumns, PrismRow};
use crate::queries::prism_versions::VersionColumns;
use crate::schema::sql_types::Bind;
use crate::schema::{prism_changes, prism_versions, prisms};

/// A prism to be made, with its first version.
pub struct NewPrism<'a, S> {
    /// `UUIDv7`.
    pub id: PrismId,
    /// Display name.
    pub name: &'a PrismName,
    /// Slugs in the order in which they are tried; the prism gets the first free one.
    pub slugs: S,
    /// The first version.
    pub version: &'a PrismVersion,
    /// The person who makes the prism; `None` for the terminal.
    pub made_by: Option<PersonId>,
    /// The moment of creation.
    pub now: DateTime<Utc>,
}

impl Database {
    /// Makes a prism with its first version and the automatic lens. One transaction for each slug
    /// that is tried.
    ///
    /// # Errors
    /// When the database fails, or no slug is left.
    pub async fn create_prism<S: Iterator<Item = Slug>>(
        &self,
        account: AccountId,
        new: NewPrism<'_, S>,
    ) -> Result<PrismRow, PersistenceError> {
        let NewPrism {
            id,
            name,
            slugs,
            version,
            made_by,
            now,
        } = new;
        let latest_version = VersionNumber::FIRST;
        for slug in slugs {
            let prism = PrismRow {
                id,
                account,
                slug,
                name: name.as_str().to_owned(),
                latest_version,
                lens_revision: 0,
                created_at: now,
                archived_at: None,
            };
            let version = VersionColumns::new(id, latest_version, version, made_by, now)?;
            if self.insert_prism(&prism, version).await? == 1 {
                return Ok(prism);
            }
        }
        Err(PersistenceError::Refused(
            "no slug is left for the prism".to_owned(),
        ))
    }

    /// Inserts a prism, or none when its slug is taken.
    async fn insert_prism(
        &self,
        prism: &PrismRow,
        version: VersionColumns,
    ) -> Result<usize, PersistenceError> {
        let values = (
            prisms::id.eq(Bind(prism.id)),
            prisms::account_id.eq(Bind(prism.account)),
            prisms::slug.eq(prism.slug.as_str().to_owned()),
            prisms::name.eq(prism.name.clone()),
            prisms::latest_version.eq(prism.latest_version.get()),
            prisms::lens_revision.eq(prism.lens_revision),
            prisms::created_at.eq(Bind(prism.created_at)),
        );
        self.write(async move |mut connection| {
            let inserted = in_transaction!(connection, |c| {
                let insert = diesel::insert_into(prisms::table).values(values);
                let insert = insert
                    .on_conflict((prisms::account_id, prisms::slug))
                    .do_nothing();
                let inserted = insert.execute(c).await?;
                if inserted == 1 {
                    diesel::insert_into(prism_versions::table)
                        .values(version)
                        .execute(c)
                        .await?;
                }
                QueryResult::Ok(inserted)
            })?;
            Ok(inserted)
        })
        .await
    }

    /// Finds a prism of the account, archived or not.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_prism(
        &self,
        account: AccountId,
        prism: &PrismSelector,
    ) -> Result<Option<PrismRow>, PersistenceError> {
        let prism = prism.clone();
        self.read(async move |mut connection| {
            let of_account = prisms::table.filter(prisms::account_id.eq(Bind(account)));
            let found: Option<PrismColumns> = match prism {
                PrismSelector::Id(id) => {
                    let query = of_account.filter(prisms::id.eq(Bind(id)));
                    on!(
                        connection,
                        get_result(query.select(PrismColumns::as_select()))
                    )
                    .optional()?
                }
                PrismSelector::Slug(slug) => {
                    let query = of_account.filter(prisms::slug.eq(slug));
                    on!(
                        connection,
                        get_result(query.select(PrismColumns::as_select()))
                    )
                    .optional()?
                }
            };
            found.map(PrismRow::try_from).transpose()
        })
        .await
    }

    /// Finds a prism by its id alone, for callers that have the id from a row of the account.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_prism_by_id(
        &self,
        prism: PrismId,
    ) -> Result<Option<PrismRow>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = prisms::table.find(Bind(prism));
            let found: Option<PrismColumns> = on!(
                connection,
                get_result(query.select(PrismColumns::as_select()))
            )
            .optional()?;
            found.map(PrismRow::try_from).transpose()
        })
        .await
    }

    /// The prisms of an account, oldest first, archived ones included.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_prisms(&self, account: AccountId) -> Result<Vec<PrismRow>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = prisms::table
                .filter(prisms::account_id.eq(Bind(account)))
                .order(prisms::id);
            let found: Vec<PrismColumns> =
                on!(connection, load(query.select(PrismColumns::as_select())))?;
            found.into_iter().map(PrismRow::try_from).collect()
        })
        .await
    }

    /// Gives a prism another display name; its slug stays. A prism that has the name is left as it
    /// is. One transaction.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn rename_prism(
        &self,
        prism: PrismId,
        name: &PrismName,
        change: NewPrismChange,
    ) -> Result<(), PersistenceError> {
        let name = name.as_str().to_owned();
        let change = change.row(prism, ChangeKind::Renamed);
        self.write(async move |mut connection| {
            in_transaction!(connection, |c| {
                let named_otherwise = prisms::table
                    .filter(prisms::id.eq(Bind(prism)))
                    .filter(prisms::name.ne(name.clone()));
                let update = diesel::update(named_otherwise).set(prisms::name.eq(name));
                if update.execute(c).await? == 1 {
                    diesel::insert_into(prism_changes::table)
                        .values(change)
                        .execute(c)
                        .await?;
                }
                QueryResult::Ok(())
            })?;
            Ok(())
        })
        .await
    }

    /// Archives a prism from the moment of the change on, or restores it. A prism that is in this
    /// state is left as it is. One transaction.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_prism_archived(
        &self,
        prism: PrismId,
        archived: bool,
        change: NewPrismChange,
    ) -> Result<(), PersistenceError> {
        let archived_at = archived.then_some(change.made_at);
        let kind = if archived {
            ChangeKind::Archived
        } else {
            ChangeKind::Restored
        };
        let change = change.row(prism, kind);
        self.write(async move |mut connection| {
            in_transaction!(connection, |c| {
                let in_other_state = prisms::table
                    .filter(prisms::id.eq(Bind(prism)))
                    .filter(prisms::archived_at.is_null().eq(archived));
                let update =
                    diesel::update(in_other_state).set(prisms::archived_at.eq(archived_at));
                if update.execute(c).await? == 1 {
                    diesel::insert_into(prism_changes::table)
                        .values(change)
                        .execute(c)
                        .await?;
                }
                QueryResult::Ok(())
            })?;
            Ok(())
        })
        .await
    }
}
