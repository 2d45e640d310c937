//! The networks of a key: how they are read and changed.

use diesel::prelude::*;
use refract_domain::account::key_networks::KeyNetworks;
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::ApiKeyId;

use crate::connections::{for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::api_keys;
use crate::schema::sql_types::Bind;
use crate::schema::stored::{NamedColumn, Stored, UnreadableColumn};

impl<C: NamedColumn<Form = Option<String>>> TryFrom<Stored<C>> for Option<KeyNetworks> {
    type Error = UnreadableColumn;

    fn try_from(Stored(text): Stored<C>) -> Result<Self, UnreadableColumn> {
        let networks = text.as_deref().map_or(Ok(None), KeyNetworks::parse);
        networks.map_err(|_| UnreadableColumn(C::NAME))
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
            let saved: Option<Stored<api_keys::networks>> =
                on!(tx, get_result(saved)).optional()?;
            let Some(saved) = saved else {
                return Ok(SetNetworksOutcome::NotFound);
            };
            let saved: Option<KeyNetworks> = saved.try_into()?;
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
            add_event(&mut tx, event).await?;
            tx.commit().await?;
            Ok(SetNetworksOutcome::Changed)
        })
        .await
    }
}
