//! The networks of a key: their column, and their change.

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, Queryable};
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use diesel_async::RunQueryDsl;
use refract_domain::account::key_networks::{KeyNetworks, KeyNetworksError};
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::ApiKeyId;

use crate::connections::{for_update, in_transaction, run};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::api_keys;
use crate::schema::sql_types::Bind;

/// The column of a key's networks, which is null for a key that is not limited.
pub struct NetworksColumn(Option<String>);

impl<DB> Queryable<Nullable<Text>, DB> for NetworksColumn
where
    DB: Backend,
    Option<String>: FromSql<Nullable<Text>, DB>,
{
    type Row = Option<String>;

    fn build(row: Self::Row) -> deserialize::Result<Self> {
        Ok(Self(row))
    }
}

impl TryFrom<NetworksColumn> for Option<KeyNetworks> {
    type Error = KeyNetworksError;

    fn try_from(column: NetworksColumn) -> Result<Self, KeyNetworksError> {
        column.0.as_deref().map_or(Ok(None), KeyNetworks::parse)
    }
}

/// How a change of a key's networks ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetNetworksOutcome {
    /// The key is limited to other networks now.
    Changed,
    /// The key was limited to these networks already.
    Unchanged,
    /// The account has no such key.
    NotFound,
}

impl Database {
    /// Limits a key of the stamp's account to networks, or to none, with an event, in one
    /// transaction.
    pub async fn set_key_networks(
        &self,
        key: ApiKeyId,
        networks: Option<&KeyNetworks>,
        stamp: EventStamp,
    ) -> Result<SetNetworksOutcome, PersistenceError> {
        let networks = networks.cloned();
        self.write(async move |mut connection| {
            let outcome: QueryResult<Result<SetNetworksOutcome, PersistenceError>> =
                in_transaction!(connection, |c| {
                    let of_account = || {
                        api_keys::table
                            .filter(api_keys::id.eq(Bind(key)))
                            .filter(api_keys::account_id.eq(Bind(stamp.account)))
                    };
                    let saved = for_update(of_account().select(api_keys::networks));
                    let saved: Option<Option<String>> = saved.get_result(c).await.optional()?;
                    let saved = saved.map(NetworksColumn);
                    match saved.map(Option::<KeyNetworks>::try_from) {
                        None => Ok(Ok(SetNetworksOutcome::NotFound)),
                        Some(Err(_)) => Ok(Err(PersistenceError::Unreadable {
                            column: "api_keys.networks",
                        })),
                        Some(Ok(saved)) if saved == networks => {
                            Ok(Ok(SetNetworksOutcome::Unchanged))
                        }
                        Some(Ok(saved)) => {
                            let text = networks.as_ref().map(ToString::to_string);
                            let change = api_keys::networks.eq(text);
                            run!(c, diesel::update(of_account()).set(change));
                            let event = Event {
                                from: Some(EventDetail::key_networks(saved.as_ref())),
                                to: Some(EventDetail::key_networks(networks.as_ref())),
                                ..stamp.event(EventAction::KeyChanged, EventTarget::Key(key))
                            };
                            add_event!(c, event);
                            Ok(Ok(SetNetworksOutcome::Changed))
                        }
                    }
                });
            outcome?
        })
        .await
    }
}
