//! `refract key rotate`: a successor of a key, which is printed once.

use anyhow::bail;
use chrono::{DateTime, Utc};
use refract_service::Refract;
use refract_service::keys::{KeyError, KeyReplacement, OverlapDays, ReplaceKeyError};
use refract_service::people::AccountActor;
use serde::Serialize;

use super::list::find_key;
use crate::commands::context::AccountArg;
use crate::commands::selection::to_the_second;
use crate::output;

#[derive(Serialize)]
struct Successor<'a> {
    id: String,
    account: &'a str,
    /// Null for a successor that was made before.
    key: Option<&'a str>,
    replaces: String,
    replaced_ends_at: Option<String>,
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
    output::json(&Successor {
        id: successor.to_string(),
        account: account.name(),
        key,
        replaces: replaced.to_string(),
        replaced_ends_at: end,
    })
}
