//! Finds a key by what an operator calls it: its id, or its name where that is clear.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_persistence::StoredKey;

use super::Keys;
use crate::InternalError;

/// Why no key was found.
#[derive(Debug, thiserror::Error)]
pub enum FindKeyError {
    /// No key of the account has this id, and no accepted one has this name.
    #[error("there is no key with this id, and no accepted one with this name")]
    NotFound,
    /// Several accepted keys have the name, and they do not replace each other.
    #[error("{0} keys have this name: name one by its id")]
    Ambiguous(usize),
    /// The service failed.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

impl Keys<'_> {
    /// Finds a key of an account by its id, or an accepted key by its name. Of keys that replace
    /// each other, the name is the replaced one's, until that ends: so a command that is run again
    /// finds the key that it found before.
    ///
    /// # Errors
    /// When no key or several keys are found, or the database fails.
    pub async fn find(self, account: AccountId, called: &str) -> Result<ApiKeyId, FindKeyError> {
        let database = &self.refract.database;
        let rows = database.list_uncounted_api_keys(account).await;
        let rows = rows.map_err(InternalError::from)?;
        choose(&rows, called, Utc::now())
    }
}

fn choose(rows: &[StoredKey], called: &str, now: DateTime<Utc>) -> Result<ApiKeyId, FindKeyError> {
    if let Some(id) = ApiKeyId::parse(called) {
        let found = rows.iter().find(|row| row.id == id);
        return found.map(|row| row.id).ok_or(FindKeyError::NotFound);
    }
    let named = rows.iter();
    let named = named.filter(|row| row.name == called && row.times().is_accepted(now));
    let ids: HashSet<ApiKeyId> = named.clone().map(|row| row.id).collect();
    let is_successor = |row: &StoredKey| row.replaces.is_some_and(|key| ids.contains(&key));
    let first: Vec<_> = named.filter(|row| !is_successor(row)).collect();
    match first.as_slice() {
        [] => Err(FindKeyError::NotFound),
        [only] => Ok(only.id),
        several => Err(FindKeyError::Ambiguous(several.len())),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> ApiKeyId {
        ApiKeyId::new(Uuid::from_u128(number))
    }

    fn key(number: u128, name: &str, replaces: Option<u128>) -> StoredKey {
        StoredKey {
            id: id(number),
            name: name.to_owned(),
            first_characters: "rk_abcd".to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            last_used_at: None,
            revoked_at: None,
            made_by: None,
            expires_at: None,
            networks: None,
            last_used_from: None,
            replaces: replaces.map(id),
        }
    }

    #[test]
    fn a_key_is_found_by_its_id_or_by_a_name_that_is_clear() {
        let mut rows = vec![
            key(1, "importer", None),
            key(2, "importer", Some(1)),
            key(3, "importer", Some(2)),
            key(4, "shop", None),
            key(5, "shop", None),
        ];
        let now = Utc::now();
        let find = |rows: &[StoredKey], called: &str| choose(rows, called, now).ok();
        assert_eq!(find(&rows, &id(5).to_string()), Some(id(5)));
        assert_eq!(find(&rows, &id(6).to_string()), None);
        assert_eq!(find(&rows, "importer"), Some(id(1)), "the replaced one");
        assert_eq!(find(&rows, "Importer"), None);
        let error = choose(&rows, "shop", now).unwrap_err();
        assert_eq!(
            error.to_string(),
            "2 keys have this name: name one by its id"
        );
        rows[0].expires_at = Some(now);
        rows[3].revoked_at = Some(now);
        assert_eq!(find(&rows, "importer"), Some(id(2)), "the first one ended");
        assert_eq!(find(&rows, "shop"), Some(id(5)), "the other is revoked");
    }
}
