//! Who changed a prism and when: its versions, and changes of its lens, its name and its state, with
//! their events.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::event::{Event, EventAction, EventStamp, EventTarget, LensChangeDetails};
use refract_domain::ids::{PersonId, PrismChangeId, PrismId};
use refract_domain::lens::Lens;
use refract_domain::prism::{DisplayName, VersionNumber};

use crate::connections::load_as;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::sql_types::Bind;
use crate::schema::stored::{NamedColumn, Stored, UnreadableColumn};
use crate::schema::{prism_changes, prism_versions};

/// What a change of a prism changed, other than a new version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The prism got a custom lens.
    LensSet,
    /// The prism returned to the automatic lens.
    LensReset,
    /// The prism got another name.
    Renamed,
    /// The prism was archived.
    Archived,
    /// The prism was restored.
    Restored,
}

/// A saved change of a prism, other than a new version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = prism_changes)]
pub struct PrismChangeRow {
    /// What was changed.
    #[diesel(column_name = change, deserialize_as = Stored<prism_changes::change>)]
    pub kind: ChangeKind,
    /// The person who changed the prism; `None` for the terminal.
    pub made_by: Option<PersonId>,
    /// When the prism was changed.
    pub made_at: DateTime<Utc>,
}

/// A version of a prism without its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = prism_versions)]
pub struct VersionRow {
    /// The version's number.
    #[diesel(column_name = version, deserialize_as = Stored<prism_versions::version>)]
    pub number: VersionNumber,
    /// The person who saved the version; `None` for the terminal and for versions from before
    /// people were recorded.
    pub made_by: Option<PersonId>,
    /// When the version was saved.
    pub created_at: DateTime<Utc>,
}

#[derive(Insertable)]
#[diesel(table_name = prism_changes)]
#[diesel(treat_none_as_default_value = false)]
pub(crate) struct ChangeColumns {
    #[diesel(serialize_as = Bind<PrismChangeId>)]
    id: PrismChangeId,
    #[diesel(serialize_as = Bind<PrismId>)]
    prism_id: PrismId,
    change: &'static str,
    made_by: Option<PersonId>,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    made_at: DateTime<Utc>,
}

impl ChangeKind {
    const ALL: [Self; 5] = [
        Self::LensSet,
        Self::LensReset,
        Self::Renamed,
        Self::Archived,
        Self::Restored,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::LensSet => "lens_set",
            Self::LensReset => "lens_reset",
            Self::Renamed => "renamed",
            Self::Archived => "archived",
            Self::Restored => "restored",
        }
    }
}

impl<C: NamedColumn<Form = String>> TryFrom<Stored<C>> for ChangeKind {
    type Error = UnreadableColumn;

    fn try_from(Stored(name): Stored<C>) -> Result<Self, UnreadableColumn> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or(UnreadableColumn(C::NAME))
    }
}

impl ChangeColumns {
    /// The row of a change of a prism; its id is that of the change's event.
    pub(crate) fn new(stamp: &EventStamp, prism: PrismId, kind: ChangeKind) -> Self {
        Self {
            id: PrismChangeId::new(stamp.id.uuid()),
            prism_id: prism,
            change: kind.name(),
            made_by: stamp.actor.person(),
            made_at: stamp.at,
        }
    }
}

#[boxed]
impl Database {
    /// The changes of a prism other than its versions, oldest first.
    pub async fn list_prism_changes(
        &self,
        prism: PrismId,
    ) -> Result<Vec<PrismChangeRow>, PersistenceError> {
        let query = prism_changes::table
            .filter(prism_changes::prism_id.eq(Bind(prism)))
            .order(prism_changes::id);
        load_as!(self, query, PrismChangeRow).await
    }

    /// The versions of a prism without their definitions, oldest first.
    pub async fn list_versions(&self, prism: PrismId) -> Result<Vec<VersionRow>, PersistenceError> {
        let query = prism_versions::table
            .filter(prism_versions::prism_id.eq(Bind(prism)))
            .order(prism_versions::version);
        load_as!(self, query, VersionRow).await
    }
}

/// The event of a prism's new name.
pub(crate) fn renamed(
    stamp: EventStamp,
    prism: PrismId,
    before: String,
    name: DisplayName,
) -> Event {
    Event {
        from: Some(DisplayName::saved(before).into()),
        to: Some(name.into()),
        ..stamp.event(EventAction::PrismRenamed, EventTarget::Prism(prism))
    }
}

/// The event of a prism's new lens.
pub(crate) fn lens_changed(
    stamp: EventStamp,
    prism: PrismId,
    lens: &Lens,
    details: LensChangeDetails,
) -> Event {
    let action = match lens {
        Lens::Custom(_) => EventAction::LensSet,
        Lens::Automatic => EventAction::LensReset,
    };
    Event {
        from: Some(details.from),
        to: Some(details.to),
        ..stamp.event(action, EventTarget::Prism(prism))
    }
}
