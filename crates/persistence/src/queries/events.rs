//! Events: added in the transaction of the change that they record, and listed newest first.
//! Nothing changes or deletes an event; the database refuses it too. Events hold only ids: the names of
//! their actors and targets are looked up.

mod filter;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::event::{
    Actor, ActorKind, Event, EventAction, EventDetail, EventRequest, EventStamp, EventTarget,
    TargetKind,
};
use refract_domain::ids::{AccountId, ApiKeyId, EventId, PersonId, PrismId};
use uuid::Uuid;

pub use self::filter::{EventActors, EventFilter, EventRange};
use crate::connections::{Transaction, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::sql_types::{AnyId, Bind};
use crate::schema::{accounts, api_keys, events, people, prisms};

/// The columns of an event.
#[derive(Insertable, Queryable, Selectable)]
#[diesel(table_name = events)]
#[diesel(treat_none_as_default_value = false)]
pub(crate) struct EventColumns {
    #[diesel(serialize_as = Bind<EventId>)]
    id: EventId,
    #[diesel(serialize_as = Bind<AccountId>)]
    account_id: AccountId,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    at: DateTime<Utc>,
    actor_kind: String,
    #[diesel(serialize_as = Bind<AnyId>)]
    actor_id: AnyId,
    action: String,
    target_kind: String,
    #[diesel(serialize_as = Bind<AnyId>)]
    target_id: AnyId,
    changed_from: Option<String>,
    changed_to: Option<String>,
    note: Option<String>,
    request_id: Option<String>,
}

impl From<Event> for EventColumns {
    fn from(event: Event) -> Self {
        let Event {
            stamp,
            action,
            target,
            from,
            to,
        } = event;
        let text = |detail: Option<EventDetail>| detail.map(|detail| detail.to_string());
        Self {
            id: stamp.id,
            account_id: stamp.account,
            at: stamp.at,
            actor_kind: stamp.actor.kind().name().to_owned(),
            actor_id: AnyId::new(stamp.actor.id().unwrap_or(Uuid::nil())),
            action: action.name().to_owned(),
            target_kind: target.kind().name().to_owned(),
            target_id: AnyId::new(target.id()),
            changed_from: text(from),
            changed_to: text(to),
            note: text(stamp.note),
            request_id: stamp.request.map(|request| request.as_str().to_owned()),
        }
    }
}

impl TryFrom<EventColumns> for Event {
    type Error = PersistenceError;

    fn try_from(columns: EventColumns) -> Result<Self, PersistenceError> {
        let column = "events.actor_kind";
        let kind = ActorKind::named(&columns.actor_kind);
        let actor_id = Some(columns.actor_id.uuid()).filter(|id| !id.is_nil());
        let actor = kind.and_then(|kind| Actor::saved(kind, actor_id));
        // a node of a newer version may have saved an action that is unknown here
        let action = EventAction::named(&columns.action).unwrap_or(EventAction::Unknown);
        let target = TargetKind::named(&columns.target_kind).unwrap_or(TargetKind::Unknown);
        Ok(Self {
            stamp: EventStamp {
                id: columns.id,
                account: columns.account_id,
                at: columns.at,
                actor: actor.ok_or(PersistenceError::Unreadable { column })?,
                request: columns.request_id.map(EventRequest::saved),
                note: columns.note.map(EventDetail::saved),
            },
            action,
            target: EventTarget::saved(target, columns.target_id.uuid()),
            from: columns.changed_from.map(EventDetail::saved),
            to: columns.changed_to.map(EventDetail::saved),
        })
    }
}

/// Saves an event in the transaction of the change that it records.
pub(crate) async fn add_event(tx: &mut Transaction, event: Event) -> QueryResult<()> {
    let insert = diesel::insert_into(events::table).values(EventColumns::from(event));
    on!(tx, execute(insert))?;
    Ok(())
}

/// Saves an event in the transaction of the change that it records, and commits that.
pub(crate) async fn commit_with(mut tx: Transaction, event: Event) -> QueryResult<()> {
    add_event(&mut tx, event).await?;
    tx.commit().await
}

#[boxed]
impl Database {
    /// Saves an event of an action that changes nothing in the database, such as an export.
    pub async fn save_event(&self, event: Event) -> Result<(), PersistenceError> {
        let columns = EventColumns::from(event);
        let insert = diesel::insert_into(events::table).values(columns);
        self.execute(insert).await?;
        Ok(())
    }

    /// Lists up to `limit` events of an account in a range that match the filter, newest first.
    pub async fn list_events(
        &self,
        account: AccountId,
        filter: EventFilter,
        range: EventRange,
        limit: u32,
    ) -> Result<Vec<Event>, PersistenceError> {
        let limit = i64::from(limit);
        match range {
            EventRange::Newest | EventRange::OlderThan(_) => {
                let newest_first = events::id.desc();
                load_as!(
                    self,
                    filter
                        .query(account, range)
                        .order(newest_first)
                        .limit(limit),
                    EventColumns
                )
                .await
            }
            EventRange::NewerThan(_) => {
                let reading: Result<Vec<Event>, _> = load_as!(
                    self,
                    filter.query(account, range).order(events::id).limit(limit),
                    EventColumns
                )
                .await;
                reading.map(|listed| listed.into_iter().rev().collect())
            }
        }
    }
}

/// Actions that change a prism itself.
const OF_PRISM: [EventAction; 7] = [
    EventAction::PrismCreated,
    EventAction::VersionSaved,
    EventAction::PrismRenamed,
    EventAction::PrismArchived,
    EventAction::PrismRestored,
    EventAction::LensSet,
    EventAction::LensReset,
];
/// Signing in and out, which do not count as a person's last action.
const OF_BEING_THERE: [EventAction; 2] = [EventAction::SignedIn, EventAction::SessionEnded];

#[boxed]
impl Database {
    /// The newest changes of a prism, its versions and its lens, at most `limit`, newest first.
    /// Exports, runs and purges are not changes.
    pub async fn list_prism_events(
        &self,
        account: AccountId,
        prism: PrismId,
        limit: u32,
    ) -> Result<Vec<Event>, PersistenceError> {
        let query = events::table
            .filter(events::account_id.eq(Bind(account)))
            .filter(events::target_kind.eq(TargetKind::Prism.name()))
            .filter(events::target_id.eq(Bind(AnyId::new(prism.uuid()))))
            .filter(events::action.eq_any(OF_PRISM.map(EventAction::name)))
            .order(events::id.desc())
            .limit(i64::from(limit));
        load_as!(self, query, EventColumns).await
    }

    /// The newest event of each person of an account, apart from signing in and out, in no
    /// particular order. Removed people are left out. At most two queries.
    pub async fn list_last_events(
        &self,
        account: AccountId,
    ) -> Result<Vec<Event>, PersistenceError> {
        self.read(async move |mut connection| {
            let last = events::table
                .filter(events::account_id.eq(Bind(account)))
                .filter(events::actor_kind.eq(ActorKind::Person.name()))
                .filter(events::actor_id.eq(people::id))
                .filter(events::action.ne_all(OF_BEING_THERE.map(EventAction::name)))
                .order(events::id.desc())
                .limit(1)
                .select(events::id)
                .single_value();
            let query = people::table
                .filter(people::account_id.eq(Bind(account)))
                .filter(people::removed_at.is_null())
                .select(last);
            let ids: Vec<Option<EventId>> = on!(connection, load(query))?;
            let ids: Vec<_> = ids.into_iter().flatten().map(Bind).collect();
            if ids.is_empty() {
                return Ok(Vec::new());
            }
            let query = events::table.filter(events::id.eq_any(ids));
            let found: Vec<EventColumns> = on!(connection, load(query) as EventColumns)?;
            found.into_iter().map(Event::try_from).collect()
        })
        .await
    }
}

/// The names of a prism.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct PrismNameRow {
    /// The prism's id.
    pub id: PrismId,
    /// Unique in the account.
    pub slug: String,
    /// Display name.
    pub name: String,
}

#[boxed]
impl Database {
    /// The names of these prisms of the account, in no particular order. A few hundred ids at most.
    pub async fn list_prism_names(
        &self,
        account: AccountId,
        wanted: &[PrismId],
    ) -> Result<Vec<PrismNameRow>, PersistenceError> {
        let ids: Vec<_> = wanted.iter().copied().map(Bind).collect();
        let query = prisms::table
            .filter(prisms::account_id.eq(Bind(account)))
            .filter(prisms::id.eq_any(ids))
            .select((prisms::id, prisms::slug, prisms::name));
        self.load(query).await
    }

    /// The labels of these keys of the account, revoked ones included, in no particular order. A
    /// few hundred ids at most.
    pub async fn list_key_names(
        &self,
        account: AccountId,
        wanted: &[ApiKeyId],
    ) -> Result<Vec<(ApiKeyId, String)>, PersistenceError> {
        let ids: Vec<_> = wanted.iter().copied().map(Bind).collect();
        let query = api_keys::table
            .filter(api_keys::account_id.eq(Bind(account)))
            .filter(api_keys::id.eq_any(ids))
            .select((api_keys::id, api_keys::name));
        self.load(query).await
    }

    /// The name of an account.
    pub async fn find_account_name(
        &self,
        account: AccountId,
    ) -> Result<Option<String>, PersistenceError> {
        let query = accounts::table.find(Bind(account)).select(accounts::name);
        self.find(query).await
    }

    /// The people of the account who have or had this address, removed ones included.
    pub async fn list_people_of_email(
        &self,
        account: AccountId,
        email: &str,
    ) -> Result<Vec<PersonId>, PersistenceError> {
        let email = email.to_owned();
        let query = people::table
            .filter(people::account_id.eq(Bind(account)))
            .filter(people::email.eq(email))
            .order(people::id)
            .select(people::id);
        self.load(query).await
    }

    /// The keys of the account that have this label, revoked ones included.
    pub async fn list_keys_of_name(
        &self,
        account: AccountId,
        name: &str,
    ) -> Result<Vec<ApiKeyId>, PersistenceError> {
        let name = name.to_owned();
        let query = api_keys::table
            .filter(api_keys::account_id.eq(Bind(account)))
            .filter(api_keys::name.eq(name))
            .order(api_keys::id)
            .select(api_keys::id);
        self.load(query).await
    }
}
