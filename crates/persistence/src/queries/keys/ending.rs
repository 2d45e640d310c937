//! The keys of all accounts that end soon, for their metric.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::KeyTimes;
use refract_domain::ids::ApiKeyId;

use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::{accounts, api_keys};

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
