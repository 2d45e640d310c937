//! `refract key list`: the keys of an account, without the keys themselves, and the key that an
//! argument names.

use refract_domain::account::key_networks::KeyNetworks;
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_service::Refract;
use refract_service::keys::{FindKeyError, ListedKey};
use serde::Serialize;

use crate::commands::selection::to_the_second;
use crate::output;

#[derive(Serialize)]
struct ShownKey {
    id: String,
    name: String,
    first_characters: String,
    created_at: String,
    last_used_at: Option<String>,
    last_used_from: Option<String>,
    results_made: u64,
    revoked_at: Option<String>,
    expires_at: Option<String>,
    revoked_by: Option<String>,
    /// Empty for a key that is not limited.
    networks: Vec<String>,
    replaces: Option<String>,
}

impl From<ListedKey> for ShownKey {
    fn from(listed: ListedKey) -> Self {
        let key = listed.row;
        let networks = key.networks.iter().flat_map(KeyNetworks::texts);
        Self {
            id: key.id.to_string(),
            name: key.name,
            first_characters: key.first_characters,
            created_at: to_the_second(key.created_at),
            last_used_at: key.last_used_at.map(to_the_second),
            last_used_from: key.last_used_from,
            results_made: listed.results,
            revoked_at: key.revoked_at.map(to_the_second),
            expires_at: key.expires_at.map(to_the_second),
            revoked_by: listed.revoked_by.map(|by| by.reference),
            networks: networks.collect(),
            replaces: key.replaces.map(|replaced| replaced.to_string()),
        }
    }
}

pub(super) async fn list(refract: &Refract, json: bool, account: AccountId) -> anyhow::Result<()> {
    let keys = refract.keys().list(account).await?;
    let shown: Vec<_> = keys.into_iter().map(ShownKey::from).collect();
    let headers = [
        "id",
        "name",
        "begins with",
        "created",
        "last used",
        "results",
        "revoked",
        "revoked by",
        "expires",
    ];
    output::list(json, &headers, &shown, |key| {
        vec![
            key.id.clone(),
            key.name.clone(),
            key.first_characters.clone(),
            key.created_at.clone(),
            key.last_used_at.clone().unwrap_or_default(),
            key.results_made.to_string(),
            key.revoked_at.clone().unwrap_or_default(),
            key.revoked_by.clone().unwrap_or_default(),
            key.expires_at.clone().unwrap_or_default(),
        ]
    })
}

/// Finds a key by its id, or by its name if one accepted key has it.
pub(in crate::commands) async fn find_key(
    refract: &Refract,
    account: AccountId,
    called: &str,
) -> anyhow::Result<ApiKeyId> {
    let found = refract.keys().find(account, called).await;
    found.map_err(|error| match error {
        FindKeyError::NotFound | FindKeyError::Ambiguous(_) => {
            anyhow::anyhow!("'{called}': {error}: see `refract key list`")
        }
        FindKeyError::Internal(error) => error.into(),
    })
}
