//! `refract key list`: the keys of an account, without the keys themselves, and the key that an
//! argument names. `refract key rotate`: a successor of a key, which is printed once.

use anyhow::bail;
use chrono::{DateTime, Utc};
use refract_domain::account::KeyNetworks;
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_identity::keys::{
    FindKeyError, KeyError, KeyReplacement, ListedKey, OverlapDays, ReplaceKeyError,
};
use refract_identity::people::AccountActor;
use refract_service::Refract;

use crate::commands::context::AccountArg;
use crate::commands::selection::to_the_second;
use crate::output::report::{ListColumn, column, json_only, table_only};
use crate::output::{self, report, value};

/// A key with the number of results that it made.
struct CountedKey {
    key: ListedKey,
    results: u64,
}

/// The columns of the list.
const COLUMNS: &[ListColumn<CountedKey>] = &[
    column("id", "id", |it| value(&it.key.row.id.to_string())),
    column("name", "name", |it| value(&it.key.row.name.as_str())),
    column("first_characters", "begins with", |it| {
        value(&it.key.row.first_characters.as_str())
    }),
    column("created_at", "created", |it| {
        value(&to_the_second(it.key.row.created_at))
    }),
    column("last_used_at", "last used", |it| {
        value(&it.key.row.last_used_at.map(to_the_second))
    }),
    json_only("last_used_from", |it| {
        value(&it.key.row.last_used_from.as_deref())
    }),
    column("results_made", "results", |it| value(&it.results)),
    column("revoked_at", "revoked", |it| {
        value(&it.key.row.revoked_at.map(to_the_second))
    }),
    json_only("expires_at", |it| {
        value(&it.key.row.expires_at.map(to_the_second))
    }),
    column("revoked_by", "revoked by", |it| {
        let by = it.key.revoked_by.as_ref();
        value(&by.map(|by| by.reference.as_str()))
    }),
    table_only("expires", |it| {
        value(&it.key.row.expires_at.map(to_the_second))
    }),
    // none for a key that is not limited
    json_only("networks", |it| {
        let networks = it.key.row.networks.iter();
        let networks = networks.flat_map(KeyNetworks::texts);
        value(&networks.collect::<Vec<_>>())
    }),
    json_only("replaces", |it| {
        let replaced = it.key.row.replaces;
        value(&replaced.map(|replaced| replaced.to_string()))
    }),
];

pub(super) async fn list(refract: &Refract, json: bool, account: AccountId) -> anyhow::Result<()> {
    let keys = refract.keys().list(account).await?;
    let counts = refract.results().counts(account, Utc::now()).await?;
    let keys = keys.into_iter().map(|key| CountedKey {
        results: counts.of_key(key.row.id),
        key,
    });
    report::list(json, COLUMNS, &keys.collect::<Vec<_>>())
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
        FindKeyError::Persistence(error) => error.into(),
    })
}

/// Finds the key to revoke or to limit by its id, or by its name if no other accepted key has it: of a
/// key and its successor, which share a name, only an id says which is meant.
pub(super) async fn find_key_to_change(
    refract: &Refract,
    account: AccountId,
    called: &str,
) -> anyhow::Result<ApiKeyId> {
    if ApiKeyId::parse(called).is_some() {
        return find_key(refract, account, called).await;
    }
    let now = Utc::now();
    let mut keys = refract.keys().list(account).await?;
    keys.retain(|key| {
        key.row.name == called && key.row.revoked_at.is_none() && !key.has_ended(now)
    });
    match keys.as_slice() {
        [] => Err(no_key(called)),
        [only] => Ok(only.row.id),
        several => {
            let ids: Vec<_> = several.iter().map(|key| key.row.id.to_string()).collect();
            bail!(
                "{} keys are called '{called}': name one by its id: {}",
                several.len(),
                ids.join(", ")
            )
        }
    }
}

/// The error for a key that is not there.
pub(super) fn no_key(called: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "'{called}': {}: see `refract key list`",
        FindKeyError::NotFound
    )
}

/// Replaces the key that `called` names, and prints its successor.
pub(super) async fn rotate(
    refract: &Refract,
    account: &AccountArg,
    called: &str,
    days: OverlapDays,
    expires_at: Option<DateTime<Utc>>,
) -> anyhow::Result<()> {
    let id = account.find(refract).await?;
    let replaced = find_key(refract, id, called).await?;
    let actor = AccountActor::operator(id);
    let keys = refract.keys();
    let replacing = keys.replace(&actor, replaced, days, expires_at).await;
    let replacement = match replacing {
        Err(ReplaceKeyError::Key(error @ KeyError::EndsInThePast { .. })) => {
            bail!("--expires: {error}")
        }
        replacement => replacement?,
    };
    let (successor, key, ends_at) = match &replacement {
        KeyReplacement::New {
            id,
            key,
            replaced_ends_at,
        } => (id, Some(key.reveal()), Some(*replaced_ends_at)),
        KeyReplacement::Earlier {
            id,
            replaced_ends_at,
        } => (id, None, *replaced_ends_at),
    };
    let end = ends_at.map(to_the_second);
    match (key, &end) {
        (Some(_), Some(end)) => output::say(&format!("The old key ends {end}.")),
        (Some(_), None) => {}
        (None, _) => output::say(
            "The key was replaced before, and its successor is not shown again. If it was lost, \
             revoke it and rotate again.",
        ),
    }
    let listed = refract.keys().list(id).await?.into_iter();
    let listed = listed.map(|listed| listed.row);
    let mut listed = listed;
    let row = listed.find(|row| row.id == *successor);
    let expires_at = row.as_ref().and_then(|row| row.expires_at);
    let expires_at = expires_at.map(to_the_second);
    match &expires_at {
        Some(end) => output::say(&format!("The new key ends {end}.")),
        None => output::say("The new key never ends: --expires DATE gives it an end."),
    }
    output::object(&[
        ("id", value(&successor.to_string())),
        ("account", value(&account.name())),
        // null for a successor that was made before
        ("key", value(&key)),
        ("replaces", value(&replaced.to_string())),
        ("replaced_ends_at", value(&end)),
        ("name", value(&row.map(|row| row.name))),
        // null for a successor that never ends
        ("expires_at", value(&expires_at)),
    ])
}
