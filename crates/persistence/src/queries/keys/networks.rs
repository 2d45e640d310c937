//! The networks of a key: their column, and their change.

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, Queryable};
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use refract_domain::account::key_networks::{KeyNetworks, KeyNetworksError};
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::ApiKeyId;

use crate::connections::{for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event_to;
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
        self.begin(async move |mut tx| {
            let of_account = || {
                api_keys::table
                    .filter(api_keys::id.eq(Bind(key)))
                    .filter(api_keys::account_id.eq(Bind(stamp.account)))
            };
            let saved = for_update(of_account().select(api_keys::networks));
            let saved: Option<Option<String>> = on!(tx, get_result(saved)).optional()?;
            let Some(saved) = saved else {
                return Ok(SetNetworksOutcome::NotFound);
            };
            let unreadable = |_| PersistenceError::Unreadable {
                column: "api_keys.networks",
            };
            let saved: Option<KeyNetworks> =
                NetworksColumn(saved).try_into().map_err(unreadable)?;
            if saved == networks {
                return Ok(SetNetworksOutcome::Unchanged);
            }
            let text = networks.as_ref().map(ToString::to_string);
            let update = diesel::update(of_account()).set(api_keys::networks.eq(text));
            on!(tx, execute(update))?;
            let event = Event {
                from: Some(EventDetail::key_networks(saved.as_ref())),
                to: Some(EventDetail::key_networks(networks.as_ref())),
                ..stamp.event(EventAction::KeyChanged, EventTarget::Key(key))
            };
            add_event_to(&mut tx, event).await?;
            tx.commit().await?;
            Ok(SetNetworksOutcome::Changed)
        })
        .await
    }
}
