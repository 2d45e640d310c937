//! Replacing a key: a successor is made, and the key ends later, so that programs can change over.
//! And the keys of all accounts that end soon, for their metric.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::{ApiKeyHash, KeyTimes};
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::ApiKeyId;

use super::ApiKeyColumns;
use crate::connections::{for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::sql_types::Bind;
use crate::schema::{accounts, api_keys};

/// The successor of a key, to be saved with the key's name and networks.
#[derive(Clone, Debug)]
pub struct NewSuccessor {
    /// `UUIDv7`.
    pub id: ApiKeyId,
    /// The key that is replaced, of the stamp's account.
    pub replaces: ApiKeyId,
    /// The hash of the successor.
    pub hash: ApiKeyHash,
    /// First characters of the successor.
    pub first_characters: String,
    /// The successor is refused from this moment on; `None` for never.
    pub expires_at: Option<DateTime<Utc>>,
    /// The replaced key is refused from this moment on, unless it ends earlier.
    pub replaced_ends_at: DateTime<Utc>,
}

/// How the replacement of a key ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplaceKeyOutcome {
    /// The successor was saved.
    Replaced {
        /// The end of the replaced key.
        ends_at: DateTime<Utc>,
    },
    /// The key has a successor already, which is not revoked.
    HasSuccessor {
        /// The successor.
        successor: ApiKeyId,
        /// The end of the replaced key; `None` if it was given another end since.
        ends_at: Option<DateTime<Utc>>,
    },
    /// The key is revoked or has ended: nothing uses it.
    Ended,
    /// The account has no such key.
    NotFound,
}

/// The columns of a key that is replaced.
#[derive(Queryable, Selectable)]
#[diesel(table_name = api_keys)]
struct ReplacedColumns {
    name: String,
    networks: Option<String>,
    revoked_at: Option<DateTime<Utc>>,
    expires_at: Option<DateTime<Utc>>,
}

#[boxed]
impl Database {
    /// Saves the successor of a key and the end of the key, with their events, in one transaction.
    /// A key has one successor that is not revoked: of concurrent replacements one is saved.
    pub async fn replace_api_key(
        &self,
        new: &NewSuccessor,
        stamp: EventStamp,
    ) -> Result<ReplaceKeyOutcome, PersistenceError> {
        let new = new.clone();
        self.begin(async move |mut tx| {
            let replaced = || {
                api_keys::table
                    .filter(api_keys::id.eq(Bind(new.replaces)))
                    .filter(api_keys::account_id.eq(Bind(stamp.account)))
            };
            let found = on!(
                tx,
                get_result(for_update(replaced().select(ReplacedColumns::as_select())))
            );
            let Some(found) = found.optional()? else {
                return Ok(ReplaceKeyOutcome::NotFound);
            };
            let has_ended = found.expires_at.is_some_and(|end| end <= stamp.at);
            if found.revoked_at.is_some() || has_ended {
                return Ok(ReplaceKeyOutcome::Ended);
            }
            let before = found.expires_at;
            let columns = columns_of(&new, found, &stamp);
            let created = created_event(&new, columns.networks.as_deref(), &stamp);
            let insert = diesel::insert_into(api_keys::table).values(columns);
            if on!(tx, execute(insert.on_conflict_do_nothing()))? == 0 {
                let successor = api_keys::table
                    .filter(api_keys::replaces.eq(Some(new.replaces)))
                    .filter(api_keys::revoked_at.is_null())
                    .select(api_keys::id);
                return Ok(ReplaceKeyOutcome::HasSuccessor {
                    successor: on!(tx, get_result(successor))?,
                    ends_at: before,
                });
            }
            add_event(&mut tx, created).await?;
            let mut ends_at = new.replaced_ends_at;
            match before {
                Some(earlier) if earlier <= ends_at => ends_at = earlier,
                _ => {
                    let end = api_keys::expires_at.eq(Some(ends_at));
                    on!(tx, execute(diesel::update(replaced()).set(end)))?;
                    let event = end_event(new.replaces, before, ends_at, &stamp);
                    add_event(&mut tx, event).await?;
                }
            }
            tx.commit().await?;
            Ok(ReplaceKeyOutcome::Replaced { ends_at })
        })
        .await
    }
}

fn columns_of(new: &NewSuccessor, found: ReplacedColumns, stamp: &EventStamp) -> ApiKeyColumns {
    ApiKeyColumns {
        id: new.id,
        account_id: stamp.account,
        name: found.name,
        hash: new.hash.bytes().to_vec(),
        first_characters: new.first_characters.clone(),
        created_at: stamp.at,
        made_by: stamp.actor.person(),
        expires_at: new.expires_at,
        networks: found.networks,
        replaces: Some(new.replaces),
    }
}

fn created_event(new: &NewSuccessor, networks: Option<&str>, stamp: &EventStamp) -> Event {
    let end = new.expires_at.map(|end| EventDetail::at("ends", end));
    // saved networks are as they are written
    let networks = networks.map(|networks| EventDetail::saved(format!("from {networks}")));
    let replaces = EventDetail::in_place_of(new.replaces);
    let parts: Vec<_> = [Some(replaces), end, networks]
        .into_iter()
        .flatten()
        .collect();
    let created = stamp.clone();
    Event {
        to: Some(EventDetail::list(&parts)),
        ..created.event(EventAction::KeyCreated, EventTarget::Key(new.id))
    }
}

fn end_event(
    key: ApiKeyId,
    before: Option<DateTime<Utc>>,
    ends_at: DateTime<Utc>,
    stamp: &EventStamp,
) -> Event {
    let changed = stamp.further();
    Event {
        from: Some(before.map_or("no end".into(), |end| EventDetail::at("ends", end))),
        to: Some(EventDetail::at("ends", ends_at)),
        ..changed.event(EventAction::KeyChanged, EventTarget::Key(key))
    }
}

diesel::alias!(api_keys as successors: Successors);

/// A key that ends soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndingKey {
    /// The key's id.
    pub id: ApiKeyId,
    /// The name of its account.
    pub account: String,
    /// The end of the key.
    pub ends_at: DateTime<Utc>,
    /// When the key was made, used and ends.
    pub times: KeyTimes,
    /// The same of the successor that is not revoked.
    pub successor: Option<KeyTimes>,
}

type Times = (DateTime<Utc>, Option<DateTime<Utc>>, Option<DateTime<Utc>>);

#[boxed]
impl Database {
    /// The used keys of all accounts that end in a period and are not revoked, by their end, up to
    /// `limit` of them.
    pub async fn list_ending_keys(
        &self,
        after: DateTime<Utc>,
        up_to: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<EndingKey>, PersistenceError> {
        let is_successor = successors
            .field(api_keys::replaces)
            .eq(api_keys::id.nullable())
            .and(successors.field(api_keys::revoked_at).is_null());
        let query = api_keys::table
            .inner_join(accounts::table.on(accounts::id.eq(api_keys::account_id)))
            .left_join(successors.on(is_successor.assume_not_null()))
            .filter(api_keys::expires_at.gt(Some(after)))
            .filter(api_keys::expires_at.le(Some(up_to)))
            .filter(api_keys::revoked_at.is_null())
            .filter(api_keys::last_used_at.is_not_null())
            .order((api_keys::expires_at, api_keys::id))
            .limit(limit.into())
            .select((
                api_keys::id,
                accounts::name,
                (
                    api_keys::created_at,
                    api_keys::last_used_at,
                    api_keys::expires_at,
                ),
                successors
                    .fields((
                        api_keys::created_at,
                        api_keys::last_used_at,
                        api_keys::expires_at,
                    ))
                    .nullable(),
            ));
        let rows: Vec<(ApiKeyId, String, Times, Option<Times>)> = self.load(query).await?;
        let keys = rows
            .into_iter()
            .filter_map(|(id, account, times, successor)| {
                let times = times_of(times);
                Some(EndingKey {
                    id,
                    account,
                    ends_at: times.expires_at?,
                    times,
                    successor: successor.map(times_of),
                })
            });
        Ok(keys.collect())
    }
}

fn times_of((created_at, last_used_at, expires_at): Times) -> KeyTimes {
    KeyTimes {
        created_at,
        last_used_at,
        expires_at,
        revoked_at: None,
    }
}
