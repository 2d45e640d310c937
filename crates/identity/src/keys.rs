//! API keys: created, listed, limited, replaced, revoked, and the access that a call's key gives.

mod change;
mod key_uses;
mod list;

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use refract_boxed_futures::boxed;
use refract_domain::account::{ApiKeyHash, days_left};
use refract_domain::ids::ApiKeyId;
use refract_persistence::{KeyRow, KeyUse, PersistenceError};
use sha2::{Digest as _, Sha256};

use self::key_uses::KeyLabels;
use crate::Identity;
use crate::people::{AccountActor, secrets};

pub use self::change::{
    KeyError, KeyLimits, KeyReplacement, OverlapDays, OverlapDaysError, ReplaceKeyError,
};
pub use self::key_uses::KeyMetrics;
pub(crate) use self::key_uses::{KeyUses, RefusedKey};
pub use self::list::{FindKeyError, ListedKey, RemindedKey, reminders_of};
pub use refract_persistence::SetNetworksOutcome;

/// Interval at which collected uses are saved.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);
/// The pause between two looks at the keys.
const ROUND: Duration = Duration::from_mins(1);
/// Keys that end within this time have a series.
const SHOWN: TimeDelta = TimeDelta::days(30);
/// The most series, so that an account with thousands of keys does not fill the memory of the
/// monitoring system. The keys that end first have one.
const MOST_SERIES: u32 = 1_000;

/// The use cases of API keys, from [`Identity::keys`](crate::Identity::keys).
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    pub(crate) identity: &'a Identity,
}

/// The key of a call is unknown, revoked or expired, or the client is outside its networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid API key")]
pub struct InvalidApiKey;

impl Identity {
    /// API keys.
    pub fn keys(&self) -> Keys<'_> {
        Keys { identity: self }
    }
}

#[boxed]
impl Keys<'_> {
    /// The hash by which the key of a call is looked up; refuses a token without the shape of a
    /// key.
    pub fn hash_of(self, presented: &PresentedKey) -> Result<ApiKeyHash, InvalidApiKey> {
        let key = presented.key();
        let key = key.ok_or_else(|| self.refused(RefusedKey::Unknown))?;
        Ok(key.hash())
    }

    /// Authenticates a call by the row that was found for the hash of its key: refuses an unknown
    /// or revoked key and a client outside the key's networks, records the key's use, and returns
    /// the row with the caller. The key's id is reported even for a refused key.
    pub fn authenticate<Row>(
        self,
        presented: &PresentedKey,
        found: Option<Row>,
        key_of: impl Fn(&Row) -> &KeyRow,
    ) -> Result<(AccountActor, Row), InvalidApiKey> {
        let row = found.ok_or_else(|| self.refused(RefusedKey::Unknown))?;
        let key = key_of(&row);
        presented.is_of(key.id);
        if key.is_revoked {
            return Err(self.refused(RefusedKey::Revoked));
        }
        let client = presented.client();
        if let Some(networks) = &key.networks
            && !client.is_some_and(|client| networks.allow(client))
        {
            tracing::info!(key = %key.id, "the client is in none of the key's networks");
            return Err(self.refused(RefusedKey::Network));
        }
        self.identity.key_uses.note(key.id, client);
        Ok((AccountActor::key(key.account, key.id), row))
    }

    /// Counts a refused key. The reply to all of them is the same (spec 7).
    fn refused(self, reason: RefusedKey) -> InvalidApiKey {
        self.identity.key_metrics.refused(reason);
        InvalidApiKey
    }

    /// Saves every few seconds when keys were last used, and exports every minute how long they are
    /// still accepted, until the future is dropped.
    pub async fn run_rounds(self) -> Infallible {
        tokio::select! {
            never = self.save_uses_regularly() => never,
            never = self.export_days_left_regularly() => never,
        }
    }

    async fn save_uses_regularly(self) -> Infallible {
        loop {
            tokio::time::sleep(SAVE_INTERVAL).await;
            self.save_uses().await;
        }
    }

    /// Saves when keys were last used. If the database fails, the uses stay collected for the next
    /// time.
    pub async fn save_uses(self) {
        let uses = &self.identity.key_uses;
        let taken = std::mem::take(&mut *uses.collected());
        if taken.is_empty() {
            return;
        }
        let list: Vec<_> = taken
            .into_iter()
            .map(|(key, (at, client))| KeyUse { key, at, client })
            .collect();
        if let Err(error) = self.identity.database.note_key_use(&list).await {
            tracing::warn!(%error, "the last use of keys could not be written yet");
            let mut collected = uses.collected();
            for KeyUse { key, at, client } in list {
                collected.entry(key).or_insert((at, client));
            }
        }
    }

    /// Exports every minute how long the keys in use are still accepted, until the future is
    /// dropped. Every node exports the same.
    async fn export_days_left_regularly(self) -> Infallible {
        let mut exported = HashMap::new();
        loop {
            match self.days_left(Utc::now()).await {
                Ok(days) => {
                    self.identity.key_metrics.set(&exported, &days);
                    exported = days;
                }
                Err(error) => tracing::warn!(%error, "the ends of keys could not be read yet"),
            }
            tokio::time::sleep(ROUND).await;
        }
    }

    async fn days_left(
        self,
        now: DateTime<Utc>,
    ) -> Result<HashMap<KeyLabels, f64>, PersistenceError> {
        let database = &self.identity.database;
        let ending = database.list_ending_keys(now, now + SHOWN, MOST_SERIES);
        let in_use = ending.await?.into_iter().filter_map(|key| {
            let is_in_use = key.times.is_in_use(key.successor.as_ref(), now);
            let labels = [("account", key.account), ("key", key.id.to_string())];
            is_in_use.then(|| (labels, days_left(key.ends_at, now)))
        });
        Ok(in_use.collect())
    }
}

/// The three characters that every API key begins with.
pub const PREFIX: &str = "rk_";
/// Random characters after the prefix.
const RANDOM_CHARS: usize = 32;

/// A whole API key. It has no `Debug` and no `Display`, so that no log shows one by accident.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Makes a key from random bytes, one character from each.
    pub fn from_random(random: [u8; RANDOM_CHARS]) -> Self {
        let letters = secrets::from_random(&random);
        Self(PREFIX.chars().chain(letters).collect())
    }

    /// Parses a key that a caller sent; `None` for a text without the shape of a key.
    pub fn parse(text: &str) -> Option<Self> {
        let random = text.strip_prefix(PREFIX)?;
        secrets::has_shape(random, RANDOM_CHARS).then(|| Self(text.to_owned()))
    }

    /// The key as text, for the one time that it is shown.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The first characters, by which an owner recognises the key.
    pub fn first_characters(&self) -> String {
        self.0.chars().take(PREFIX.len() + 4).collect()
    }

    /// The hash that is stored in place of the key.
    pub fn hash(&self) -> ApiKeyHash {
        ApiKeyHash::new(Sha256::digest(self.0.as_bytes()).into())
    }
}

/// The id of a call's API key, once the key was found, even if it is revoked. Clones share it, so
/// that the call's log line can name the caller however the call ends.
#[derive(Clone, Debug, Default)]
pub struct CallKeyId(Arc<OnceLock<ApiKeyId>>);

impl CallKeyId {
    /// The id; `None` for a call without a key that exists or existed.
    pub fn get(&self) -> Option<ApiKeyId> {
        self.0.get().copied()
    }

    fn found(&self, id: ApiKeyId) {
        // a call has one key
        let _ = self.0.set(id);
    }
}

/// The key of a call, and the call's client.
pub struct PresentedKey {
    /// `None` when the bearer token does not have the shape of a key.
    key: Option<ApiKey>,
    id: CallKeyId,
    client: Option<IpAddr>,
}

impl PresentedKey {
    /// A key whose id is written to `id` once it is known, of a client at this address.
    pub fn new(key: Option<ApiKey>, id: CallKeyId, client: Option<IpAddr>) -> Self {
        Self { key, id, client }
    }

    /// The address of the client, if it is known.
    pub(crate) fn client(&self) -> Option<IpAddr> {
        self.client
    }

    pub(crate) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// Records the id of the key.
    fn is_of(&self, id: ApiKeyId) {
        self.id.found(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_reads_back() {
        let key = ApiKey::from_random(std::array::from_fn(|i| u8::try_from(i * 8).unwrap()));
        assert_eq!(key.reveal().len(), 35);
        assert!(ApiKey::parse(key.reveal()).unwrap().hash() == key.hash());
        assert_eq!(key.first_characters().len(), 7);
    }

    #[test]
    fn other_shapes_are_no_keys() {
        let good = format!("rk_{}", "a".repeat(32));
        assert!(ApiKey::parse(&good).is_some());
        for bad in [
            good.trim_start_matches('r'),
            good.trim_end_matches('a'),
            &format!("{good}a"),
            "",
            &good.replace("aa", "a+"),
        ] {
            assert!(ApiKey::parse(bad).is_none(), "{bad}");
        }
    }
}
