//! Which events of an account are listed.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::backend::{Backend, DieselReserveSpecialization};
use diesel::prelude::*;
use diesel::query_dsl::methods::BoxedDsl;
use diesel::serialize::ToSql;
use diesel::sql_types::{Bool, HasSqlType, Text};
use refract_domain::event::{ActorKind, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{AccountId, EventId};
use uuid::Uuid;

use crate::schema::events;
use crate::schema::sql_types::{AnyId, Bind, Id, Moment};

/// Which events of an account are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Events of these actors.
    pub actors: Option<EventActors>,
    /// Events of this action.
    pub action: Option<EventAction>,
    /// Events about this target.
    pub target: Option<EventTarget>,
    /// Events whose note begins with this detail.
    pub about: Option<EventDetail>,
    /// Events from this moment on.
    pub since: Option<DateTime<Utc>>,
    /// Events before this moment.
    pub until: Option<DateTime<Utc>>,
}

/// Actors whose events are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventActors {
    /// The kind of the actors.
    pub kind: ActorKind,
    /// The ids of people or keys, a few at most; empty for operators and nodes, where all are
    /// meant.
    pub ids: Vec<Uuid>,
}

/// A part of the events, in the order of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventRange {
    /// The newest events.
    Newest,
    /// The events just older than this one.
    OlderThan(EventId),
    /// The events just newer than this one.
    NewerThan(EventId),
}

/// A condition on events, in the SQL of a database.
type EventCondition<DB> = Box<dyn BoxableExpression<events::table, DB, SqlType = Bool>>;

/// Whether the actor has one of these ids.
fn is_one_of<DB>(ids: Vec<Uuid>) -> EventCondition<DB>
where
    DB: Backend + DieselReserveSpecialization + HasSqlType<Id> + 'static,
    AnyId: ToSql<Id, DB>,
{
    let mut ids = ids.into_iter().map(|id| Bind(AnyId::new(id)));
    // operators and nodes have the nil id
    let none = Bind(AnyId::new(Uuid::nil()));
    let first: EventCondition<DB> = Box::new(events::actor_id.eq(ids.next().unwrap_or(none)));
    ids.fold(first, |condition, id| {
        Box::new(condition.or(events::actor_id.eq(id)))
    })
}

/// Largest difference between the moment in an event's id and its saved moment: see the filter of
/// results.
const APART: TimeDelta = TimeDelta::minutes(5);

impl EventFilter {
    /// The exclusive bounds of the ids of all events in the period and the range: an id begins with
    /// its creation time, so an index of ids finds a period.
    fn ids(&self, range: EventRange) -> (EventId, EventId) {
        let nearby = |moment: DateTime<Utc>, apart| {
            let moment = moment.checked_add_signed(apart);
            moment.map(|moment| EventId::first_of(moment).just_before())
        };
        let since = self.since.and_then(|since| nearby(since, -APART));
        let until = self.until.and_then(|until| nearby(until, APART));
        let (after, before) = match range {
            EventRange::Newest => (None, None),
            EventRange::OlderThan(id) => (None, Some(id)),
            EventRange::NewerThan(id) => (Some(id), None),
        };
        let first = since.unwrap_or(EventId::LOWEST);
        let end = until.unwrap_or(EventId::HIGHEST);
        (
            after.unwrap_or(first).max(first),
            before.unwrap_or(end).min(end),
        )
    }

    /// The query for the events of an account, without an order. Details are made of fixed words and
    /// ids, so that [`about`](Self::about) has no wildcards.
    pub(crate) fn query<DB>(
        self,
        account: AccountId,
        range: EventRange,
    ) -> events::BoxedQuery<'static, DB>
    where
        DB: Backend + DieselReserveSpecialization + HasSqlType<Id> + HasSqlType<Moment> + 'static,
        events::table: BoxedDsl<'static, DB, Output = events::BoxedQuery<'static, DB>>,
        AccountId: ToSql<Id, DB>,
        AnyId: ToSql<Id, DB>,
        EventId: ToSql<Id, DB>,
        DateTime<Utc>: ToSql<Moment, DB>,
        str: ToSql<Text, DB>,
    {
        let (after, before) = self.ids(range);
        let mut query = QueryDsl::into_boxed(events::table)
            .filter(events::account_id.eq(Bind(account)))
            .filter(events::id.gt(Bind(after)))
            .filter(events::id.lt(Bind(before)));
        if let Some(since) = self.since {
            query = query.filter(events::at.ge(Bind(since)));
        }
        if let Some(until) = self.until {
            query = query.filter(events::at.lt(Bind(until)));
        }
        if let Some(EventActors { kind, ids }) = self.actors {
            query = query
                .filter(events::actor_kind.eq(kind.name()))
                .filter(is_one_of(ids));
        }
        if let Some(action) = self.action {
            query = query.filter(events::action.eq(action.name()));
        }
        if let Some(about) = self.about {
            query = query.filter(events::note.like(format!("{about}%")));
        }
        match self.target {
            None => query,
            Some(target) => query
                .filter(events::target_kind.eq(target.kind().name()))
                .filter(events::target_id.eq(Bind(AnyId::new(target.id())))),
        }
    }
}
