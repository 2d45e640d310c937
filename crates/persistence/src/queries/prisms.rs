//! Prisms themselves: their names, slugs and whether they are archived.

pub(super) mod changes;
mod example_checks;
mod example_texts;
pub(super) mod row;
mod save_definitions;
mod versions;

use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::event::{EventAction, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, PrismId};
use refract_domain::prism::{DisplayName, PrismSelector, PrismVersion, Slug, VersionNumber};

use self::changes::renamed;
pub use self::changes::{ChangeKind, PrismChangeRow, VersionRow};
pub use self::example_checks::{ExampleCheck, WordingHash};
pub use self::example_texts::{
    ExampleSource, ExampleText, ExamplesOutcome, NewExampleText, SavedExamples,
};
pub use self::row::{Prism, WriteOutcome};
pub use self::save_definitions::{DefinedPrism, PrismDefinition};
pub use self::versions::{NewVersion, PrismHistory};
use crate::connections::{find_as, for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::prisms::changes::ChangeColumns;
use crate::schema::sql_types::Bind;
use crate::schema::{prism_changes, prisms};

/// A prism to be created, with its first version.
pub struct NewPrism<'a> {
    /// `UUIDv7`.
    pub id: PrismId,
    /// Display name.
    pub name: &'a DisplayName,
    /// The first version.
    pub version: &'a PrismVersion,
    /// Who creates the prism in which account, and when.
    pub stamp: EventStamp,
}

#[boxed]
impl Database {
    /// Creates a prism with its first version, the automatic lens and an event. It gets the first
    /// slug that is free. One transaction for each slug that is tried.
    ///
    /// # Errors
    /// When the database fails, or no slug is left.
    pub async fn create_prism(
        &self,
        new: &NewPrism<'_>,
        slugs: &mut (dyn Iterator<Item = Slug> + Send),
    ) -> Result<Prism, PersistenceError> {
        let &NewPrism {
            id,
            name,
            version,
            ref stamp,
        } = new;
        for slug in slugs {
            let definition = PrismDefinition {
                prism: DefinedPrism::New { id, slug: &slug },
                name,
                version: Some(version),
                lens: None,
                stamp: stamp.clone(),
            };
            if self.save_definitions(&[definition]).await? == WriteOutcome::Saved {
                return Ok(Prism {
                    id,
                    account: stamp.account,
                    slug,
                    name: name.as_str().to_owned(),
                    latest_version: VersionNumber::FIRST,
                    lens_revision: 0,
                    created_at: stamp.at,
                    archived_at: None,
                });
            }
        }
        Err(PersistenceError::Refused(
            "no slug is left for the prism".to_owned(),
        ))
    }

    /// Finds a prism of the account, archived or not.
    pub async fn find_prism(
        &self,
        account: AccountId,
        prism: &PrismSelector,
    ) -> Result<Option<Prism>, PersistenceError> {
        let of_account = prisms::table.filter(prisms::account_id.eq(Bind(account)));
        match prism {
            PrismSelector::Id(id) => {
                let query = of_account.filter(prisms::id.eq(Bind(*id)));
                find_as!(self, query, Prism).await
            }
            PrismSelector::Slug(slug) => {
                let query = of_account.filter(prisms::slug.eq(slug.clone()));
                find_as!(self, query, Prism).await
            }
        }
    }

    /// Finds a prism by its id alone, for callers that have the id from a row of the account.
    pub async fn find_prism_by_id(
        &self,
        prism: PrismId,
    ) -> Result<Option<Prism>, PersistenceError> {
        let query = prisms::table.find(Bind(prism));
        find_as!(self, query, Prism).await
    }

    /// The prisms of an account, oldest first, archived ones included.
    pub async fn list_prisms(&self, account: AccountId) -> Result<Vec<Prism>, PersistenceError> {
        let query = prisms::table
            .filter(prisms::account_id.eq(Bind(account)))
            .order(prisms::id);
        load_as!(self, query, Prism).await
    }

    /// Changes a prism's display name, with an event; the slug stays. A prism that has the name
    /// already is left unchanged. One transaction.
    pub async fn rename_prism(
        &self,
        prism: PrismId,
        name: &DisplayName,
        stamp: EventStamp,
    ) -> Result<(), PersistenceError> {
        let name = name.clone();
        let change = ChangeColumns::new(&stamp, prism, ChangeKind::Renamed);
        self.begin(async move |mut tx| {
            let named_otherwise = prisms::table
                .filter(prisms::id.eq(Bind(prism)))
                .filter(prisms::name.ne(name.as_str().to_owned()));
            let before = for_update(named_otherwise.clone().select(prisms::name));
            let before: Option<String> = on!(tx, get_result(before)).optional()?;
            if let Some(before) = before {
                let update =
                    diesel::update(named_otherwise).set(prisms::name.eq(name.as_str().to_owned()));
                on!(tx, execute(update))?;
                let insert = diesel::insert_into(prism_changes::table).values(change);
                on!(tx, execute(insert))?;
                add_event(&mut tx, renamed(stamp, prism, before, name)).await?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }

    /// Archives a prism from the moment of the change on, or restores it, with an event. A prism in
    /// this state already is left unchanged. One transaction.
    pub async fn set_prism_archived(
        &self,
        prism: PrismId,
        archived: bool,
        stamp: EventStamp,
    ) -> Result<(), PersistenceError> {
        let archived_at = archived.then_some(stamp.at);
        let (kind, action) = if archived {
            (ChangeKind::Archived, EventAction::PrismArchived)
        } else {
            (ChangeKind::Restored, EventAction::PrismRestored)
        };
        let change = ChangeColumns::new(&stamp, prism, kind);
        let event = stamp.event(action, EventTarget::Prism(prism));
        self.begin(async move |mut tx| {
            let in_other_state = prisms::table
                .filter(prisms::id.eq(Bind(prism)))
                .filter(prisms::archived_at.is_null().eq(archived));
            let update = diesel::update(in_other_state).set(prisms::archived_at.eq(archived_at));
            if on!(tx, execute(update))? == 1 {
                let insert = diesel::insert_into(prism_changes::table).values(change);
                on!(tx, execute(insert))?;
                add_event(&mut tx, event).await?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}
