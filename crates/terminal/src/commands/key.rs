//! `refract key`: API keys. A key is printed once, when it is created.

use anyhow::{Context as _, bail};
use chrono::{DateTime, Utc};
use clap::Subcommand;
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_service::Refract;
use refract_service::keys::{KeyError, ListedKey};
use refract_service::people::AccountActor;
use serde::Serialize;

use super::context::{self, AccountArg};
use super::period::{self, to_the_second};
use crate::output;
use crate::settings::{self, ApiUrlArgs, DatabaseArgs};

/// The subcommands of `refract key`.
#[derive(Subcommand)]
pub enum KeyCommand {
    /// Makes a key and shows it, this one time
    #[command(
        after_help = "Examples:\n  refract key create --name laptop\n  refract key create --name trial --expires 2027-01-01\n  export REFRACT_KEY=$(refract key create --name ci | jq -r .key)"
    )]
    Create {
        /// A label to tell it from others
        #[arg(long, value_name = "LABEL", default_value = "API key")]
        name: String,
        /// From then on the key is refused: a date such as 2027-01-01, which begins at midnight UTC, or
        /// a time such as 2027-01-01T09:00:00Z [default: never]
        #[arg(long, value_name = "DATE", value_parser = period::moment)]
        expires: Option<DateTime<Utc>>,
        /// Makes no key if one of this name works: prints that one's id, and null for the key, which is
        /// shown when it is made and never again
        #[arg(long)]
        if_missing: bool,
        #[command(flatten)]
        account: AccountArg,
        #[command(flatten)]
        api: ApiUrlArgs,
        /// The address that the API listens on
        #[arg(
            long,
            env = "REFRACT_LISTEN",
            default_value = "127.0.0.1:8080",
            value_name = "ADDRESS",
            hide = true
        )]
        listen: String,
    },
    /// Lists the keys, without the keys themselves
    #[command(
        after_help = "Examples:\n  refract key list\n  refract key list --json | jq 'select(.last_used_at == null)'"
    )]
    List {
        /// JSON lines instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Revokes a key: the next request with it is refused
    #[command(after_help = "Examples:\n  refract key revoke 0190b8f2-0000-7000-8000-0000000000aa")]
    Revoke {
        /// The key's id
        id: String,
        #[command(flatten)]
        account: AccountArg,
    },
}

#[derive(Serialize)]
struct NewKey<'a> {
    id: String,
    account: &'a str,
    name: &'a str,
    key: Option<&'a str>,
}

#[derive(Serialize)]
struct ShownKey {
    id: String,
    name: String,
    first_characters: String,
    created_at: String,
    last_used_at: Option<String>,
    results_made: u64,
    revoked_at: Option<String>,
    expires_at: Option<String>,
    revoked_by: Option<String>,
}

impl From<ListedKey> for ShownKey {
    fn from(listed: ListedKey) -> Self {
        let key = listed.row;
        Self {
            id: key.id.to_string(),
            name: key.name,
            first_characters: key.first_characters,
            created_at: to_the_second(key.created_at),
            last_used_at: key.last_used_at.map(to_the_second),
            results_made: listed.results,
            revoked_at: key.revoked_at.map(to_the_second),
            expires_at: key.expires_at.map(to_the_second),
            revoked_by: listed.revoked_by.map(|by| by.reference),
        }
    }
}

impl KeyCommand {
    /// Runs a `refract key` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        match self {
            Self::Create {
                name,
                expires,
                if_missing,
                account,
                api,
                listen,
            } => {
                let refract = context::open_or_create(&database.settings()).await?;
                let listen = settings::address("REFRACT_LISTEN", &listen)?;
                let url = api.url_of(&settings::as_reached(listen).to_string())?;
                if if_missing && print_working(&refract, &name, &account).await? {
                    return Ok(());
                }
                create(&refract, &name, expires, &account).await?;
                output::say(&format!("The API: {url}"));
                Ok(())
            }
            Self::List { json, account } => {
                let (refract, account) = account.open(database).await?;
                list(&refract, json, account).await
            }
            Self::Revoke { id, account } => {
                let (refract, account) = account.open(database).await?;
                let no_key =
                    || format!("there is no key with the id '{id}': see `refract key list`");
                let key = ApiKeyId::parse(&id).with_context(no_key)?;
                let actor = AccountActor::operator(account);
                anyhow::ensure!(refract.keys().revoke(&actor, key).await?, no_key());
                output::say("The key is revoked.");
                Ok(())
            }
        }
    }
}

/// Prints the newest key of this name that works; returns whether there is one.
async fn print_working(
    refract: &Refract,
    name: &str,
    account: &AccountArg,
) -> anyhow::Result<bool> {
    let name = context::name("--name", name)?;
    let keys = refract.keys().list(account.find(refract).await?).await?;
    let now = Utc::now();
    let works = |key: &&ListedKey| {
        key.row.name == name.as_str() && key.row.revoked_at.is_none() && !key.has_ended(now)
    };
    let Some(found) = keys.iter().rfind(works) else {
        return Ok(false);
    };
    output::say("There is a key of this name: it is not shown again.");
    output::json(&NewKey {
        id: found.row.id.to_string(),
        account: account.name(),
        name: name.as_str(),
        key: None,
    })?;
    Ok(true)
}

async fn create(
    refract: &Refract,
    name: &str,
    expires: Option<DateTime<Utc>>,
    account: &AccountArg,
) -> anyhow::Result<()> {
    let name = context::name("--name", name)?;
    let actor = AccountActor::operator(account.find(refract).await?);
    let label = name.as_str().to_owned();
    let creating = refract.keys().create(&actor, label, expires).await;
    let (id, key) = match creating {
        Err(refusal @ KeyError::EndsInThePast { .. }) => bail!("--expires: {refusal}"),
        created => created?,
    };
    if let Some(end) = expires {
        output::say(&format!("The key ends {}.", to_the_second(end)));
    }
    output::json(&NewKey {
        id: id.to_string(),
        account: account.name(),
        name: name.as_str(),
        key: Some(key.reveal()),
    })
}

async fn list(refract: &Refract, json: bool, account: AccountId) -> anyhow::Result<()> {
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
