//! API keys: stored as hashes and never deleted, with their use recorded for the owner.

mod replace;

use refract_boxed_futures::boxed;
use std::net::IpAddr;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::account::{ApiKeyHash, KeyNetworks, KeyTimes};
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, ApiKeyId, PersonId};

pub use self::replace::{EndingKey, NewSuccessor, ReplaceKeyOutcome};
use crate::connections::{for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::{add_event, commit_with};
use crate::schema::api_keys;
use crate::schema::sql_types::Bind;
use crate::schema::stored::{NamedColumn, Stored, UnreadableColumn};

/// An API key to be saved.
#[derive(Clone, Debug)]
pub struct NewApiKey {
    /// `UUIDv7`.
    pub id: ApiKeyId,
    /// The account that the key opens.
    pub account: AccountId,
    /// A label for the owner; not unique.
    pub name: String,
    /// The hash of the key; the key itself is not stored.
    pub hash: ApiKeyHash,
    /// First characters of the key, by which its owner recognises it.
    pub first_characters: String,
    /// The key is refused from this moment on; `None` for a key that never expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// The networks from which the key is accepted; `None` for any.
    pub networks: Option<KeyNetworks>,
}

/// The last use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyUse {
    /// The key.
    pub key: ApiKeyId,
    /// The moment of the call.
    pub at: DateTime<Utc>,
    /// The address of the call's client, if it is known.
    pub client: Option<IpAddr>,
}

/// An API key as its owner sees it, without the number of its results: counting the results of
/// every key takes long among millions.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = api_keys)]
pub struct StoredKey {
    /// `UUIDv7`.
    pub id: ApiKeyId,
    /// A label for the owner; not unique.
    pub name: String,
    /// First characters of the key, by which its owner recognises it.
    pub first_characters: String,
    /// When the key was made.
    pub created_at: DateTime<Utc>,
    /// When the key was last used; written with a delay of a few seconds.
    pub last_used_at: Option<DateTime<Utc>>,
    /// When the key was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
    /// The person who made the key; `None` for the terminal and for keys from before people were
    /// recorded.
    pub made_by: Option<PersonId>,
    /// The key is refused from this moment on; `None` for a key that never expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// The networks from which the key is accepted; `None` for any.
    #[diesel(deserialize_as = Stored<api_keys::networks>)]
    pub networks: Option<KeyNetworks>,
    /// The client's address of the last use; `None` if it is not known.
    pub last_used_from: Option<String>,
    /// The key in whose place this one was made.
    pub replaces: Option<ApiKeyId>,
}

impl StoredKey {
    /// When the key was made, used and ends.
    pub fn times(&self) -> KeyTimes {
        KeyTimes {
            created_at: self.created_at,
            last_used_at: self.last_used_at,
            expires_at: self.expires_at,
            revoked_at: self.revoked_at,
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = api_keys)]
#[diesel(treat_none_as_default_value = false)]
struct ApiKeyColumns {
    #[diesel(serialize_as = Bind<ApiKeyId>)]
    id: ApiKeyId,
    #[diesel(serialize_as = Bind<AccountId>)]
    account_id: AccountId,
    name: String,
    hash: Vec<u8>,
    first_characters: String,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    created_at: DateTime<Utc>,
    made_by: Option<PersonId>,
    expires_at: Option<DateTime<Utc>>,
    networks: Option<String>,
    replaces: Option<ApiKeyId>,
}

#[boxed]
impl Database {
    /// Saves a new key and its event, in one transaction.
    pub async fn create_api_key(
        &self,
        key: &NewApiKey,
        stamp: EventStamp,
    ) -> Result<(), PersistenceError> {
        let columns = ApiKeyColumns {
            id: key.id,
            account_id: key.account,
            name: key.name.clone(),
            hash: key.hash.bytes().to_vec(),
            first_characters: key.first_characters.clone(),
            created_at: stamp.at,
            made_by: stamp.actor.person(),
            expires_at: key.expires_at,
            networks: key.networks.as_ref().map(ToString::to_string),
            replaces: None,
        };
        let end = key.expires_at.map(|end| EventDetail::at("ends", end));
        let networks = key.networks.as_ref();
        let networks = networks.map(|networks| EventDetail::key_networks(Some(networks)));
        let details: Vec<_> = end.into_iter().chain(networks).collect();
        let event = Event {
            to: (!details.is_empty()).then(|| EventDetail::list(&details)),
            ..stamp.event(EventAction::KeyCreated, EventTarget::Key(key.id))
        };
        self.begin(async move |mut tx| {
            let insert = diesel::insert_into(api_keys::table).values(columns);
            on!(tx, execute(insert))?;
            Ok(commit_with(tx, event).await?)
        })
        .await
    }

    /// The keys of an account, oldest first, revoked ones included, without counting their results.
    pub async fn list_uncounted_api_keys(
        &self,
        account: AccountId,
    ) -> Result<Vec<StoredKey>, PersistenceError> {
        let query = api_keys::table
            .filter(api_keys::account_id.eq(Bind(account)))
            .order(api_keys::id);
        load_as!(self, query, StoredKey).await
    }

    /// Revokes a key of the stamp's account for good, with an event, in one transaction. Returns
    /// when the key was first revoked; `None` when the account has no such key. Revoking a key
    /// again changes nothing.
    pub async fn revoke_api_key(
        &self,
        key: ApiKeyId,
        stamp: EventStamp,
    ) -> Result<Option<DateTime<Utc>>, PersistenceError> {
        let (account, now) = (stamp.account, stamp.at);
        let event = stamp.event(EventAction::KeyRevoked, EventTarget::Key(key));
        self.begin(async move |mut tx| {
            let of_account = || {
                api_keys::id
                    .eq(Bind(key))
                    .and(api_keys::account_id.eq(Bind(account)))
            };
            let active = api_keys::table
                .filter(of_account())
                .filter(api_keys::revoked_at.is_null());
            let update = diesel::update(active).set(api_keys::revoked_at.eq(Some(now)));
            if on!(tx, execute(update))? == 1 {
                add_event(&mut tx, event).await?;
            }
            let query = api_keys::table
                .filter(of_account())
                .select(api_keys::revoked_at);
            let revoked_at: Option<Option<DateTime<Utc>>> =
                on!(tx, get_result(query)).optional()?;
            tx.commit().await?;
            Ok(revoked_at.flatten())
        })
        .await
    }

    /// Saves when and from where keys were last used. A moment earlier than the saved one changes nothing, so
    /// nodes may save theirs in any order.
    ///
    /// # Errors
    /// When the database fails; then no use is saved.
    pub async fn note_key_use(&self, uses: &[KeyUse]) -> Result<(), PersistenceError> {
        if uses.is_empty() {
            return Ok(());
        }
        let mut uses = uses.to_vec();
        // every node locks rows in one order, so that two cannot deadlock
        uses.sort_unstable();
        self.begin(async move |mut tx| {
            for KeyUse { key, at, client } in uses {
                let is_news = api_keys::last_used_at
                    .is_null()
                    .or(api_keys::last_used_at.lt(Some(at)).assume_not_null());
                let known = api_keys::table
                    .filter(api_keys::id.eq(Bind(key)))
                    .filter(is_news);
                let last_use = (
                    api_keys::last_used_at.eq(Some(at)),
                    api_keys::last_used_from.eq(client.map(|address| address.to_string())),
                );
                on!(tx, execute(diesel::update(known).set(last_use)))?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}

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

#[boxed]
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
            commit_with(tx, event).await?;
            Ok(SetNetworksOutcome::Changed)
        })
        .await
    }
}
