//! `refract key`: API keys. A key is printed once, when it is created.

pub(super) mod list;

use anyhow::{Context as _, bail};
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use refract_domain::account::KeyNetworks;
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_domain::prism::DisplayName;
use refract_identity::keys::{KeyError, KeyLimits, ListedKey, OverlapDays, SetNetworksOutcome};
use refract_identity::people::AccountActor;
use refract_service::Refract;

use self::list::find_key_to_change;
use super::context::{self, AccountArg};
use super::selection::{self, to_the_second};
use crate::output::{self, value};
use crate::settings::{self, ApiUrlArgs, DatabaseArgs};

/// The subcommands of `refract key`.
#[derive(Subcommand)]
pub enum KeyCommand {
    /// Makes a key and shows it, this one time
    #[command(
        after_help = "Examples:\n  refract key create --name laptop\n  refract key create --name trial --expires 2027-01-01\n  refract key create --name importer --network 10.0.0.0/8 --network 2001:db8::/32\n  export REFRACT_KEY=$(refract key create --name ci | jq -r .key)"
    )]
    Create {
        /// A label to tell it from others
        #[arg(long, value_name = "LABEL", default_value = "API key")]
        name: String,
        /// From then on the key is refused: a date such as 2027-01-01, which begins at midnight UTC, or
        /// a time such as 2027-01-01T09:00:00Z [default: never]
        #[arg(long, value_name = "DATE", value_parser = selection::moment)]
        expires: Option<DateTime<Utc>>,
        /// Accept the key only from clients in this network, such as 10.0.0.0/8, or at this address;
        /// repeat it for several [default: from any]
        #[arg(long = "network", value_name = "NETWORK")]
        networks: Vec<String>,

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
    /// Changes the networks from which a key is accepted
    #[command(
        after_help = "Examples:\n  refract key set importer --network 10.0.0.0/8 --network 192.0.2.7\n  refract key set importer --any-network"
    )]
    Set {
        /// The key's id, or its name if no other key has it
        key: String,
        #[command(flatten)]
        networks: NetworkArgs,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Replaces a key: makes a successor with its name and networks, and lets the key end later
    ///
    /// A key that was replaced before keeps its successor, which is not shown again: then `key` is null.
    /// If the successor was lost, revoke it and rotate again.
    #[command(
        after_help = "Examples:\n  refract key rotate importer\n  refract key rotate importer --days 30 | jq -r .key"
    )]
    Rotate {
        /// The key's id, or its name if no other key has it
        key: String,
        /// Days for which the old key is still accepted: 1 to 90
        #[arg(long, value_name = "DAYS", default_value = "7", value_parser = OverlapDays::parse)]
        days: OverlapDays,
        /// From then on the successor is refused [default: never]
        #[arg(long, value_name = "DATE", value_parser = selection::moment)]
        expires: Option<DateTime<Utc>>,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Revokes a key: the next request with it is refused
    #[command(
        after_help = "Examples:\n  refract key revoke laptop\n  refract key revoke 0190b8f2-0000-7000-8000-0000000000aa"
    )]
    Revoke {
        /// The key's id, or its name if no other key has it
        key: String,
        #[command(flatten)]
        account: AccountArg,
    },
}

/// The new networks of a key.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct NetworkArgs {
    /// Accept the key only from clients in this network, or at this address; repeat it for several
    #[arg(long = "network", value_name = "NETWORK")]
    networks: Vec<String>,
    /// Accept the key from anywhere
    #[arg(long)]
    any_network: bool,
}

impl KeyCommand {
    /// Runs a `refract key` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        match self {
            Self::Create {
                name,
                expires,
                networks,
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
                let limits = KeyLimits {
                    expires_at: expires,
                    networks: read_networks(&networks)?,
                };
                create(&refract, &name, limits, &account).await?;
                output::say(&format!("The API: {url}"));
                Ok(())
            }
            Self::List { json, account } => {
                let (refract, account) = account.open(database).await?;
                list::list(&refract, json, account).await
            }
            Self::Set {
                key,
                networks,
                account,
            } => {
                let networks = read_networks(&networks.networks)?;
                let (refract, account) = account.open(database).await?;
                set_networks(&refract, account, &key, networks.as_ref()).await
            }
            Self::Rotate {
                key,
                days,
                expires,
                account,
            } => {
                let refract = context::open(&database.settings()).await?;
                list::rotate(&refract, &account, &key, days, expires).await
            }
            Self::Revoke { key, account } => {
                let (refract, account) = account.open(database).await?;
                let id = find_key_to_change(&refract, account, &key).await?;
                let actor = AccountActor::operator(account);
                if !refract.keys().revoke(&actor, id).await? {
                    return Err(list::no_key(&key));
                }
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
    print(found.row.id, account, &name, None)?;
    Ok(true)
}

async fn create(
    refract: &Refract,
    name: &str,
    limits: KeyLimits,
    account: &AccountArg,
) -> anyhow::Result<()> {
    let expires = limits.expires_at;
    let name = context::name("--name", name)?;
    let actor = AccountActor::operator(account.find(refract).await?);
    let label = name.as_str().to_owned();
    let creating = refract.keys().create(&actor, label, limits).await;
    let (id, key) = match creating {
        Err(refusal @ KeyError::EndsInThePast { .. }) => bail!("--expires: {refusal}"),
        created => created?,
    };
    if let Some(end) = expires {
        output::say(&format!("The key ends {}.", to_the_second(end)));
    }
    print(id, account, &name, Some(key.reveal()))
}

/// Prints a key that was made; `None` for one that was made before.
fn print(
    id: ApiKeyId,
    account: &AccountArg,
    name: &DisplayName,
    key: Option<&str>,
) -> anyhow::Result<()> {
    output::object(&[
        ("id", value(&id.to_string())),
        ("account", value(&account.name())),
        ("name", value(&name.as_str())),
        ("key", value(&key)),
    ])
}

async fn set_networks(
    refract: &Refract,
    account: AccountId,
    called: &str,
    networks: Option<&KeyNetworks>,
) -> anyhow::Result<()> {
    let key = find_key_to_change(refract, account, called).await?;
    let actor = AccountActor::operator(account);
    let setting = refract.keys().set_networks(&actor, key, networks);
    match setting.await? {
        SetNetworksOutcome::NotFound => bail!("'{called}': there is no such key"),
        SetNetworksOutcome::Changed | SetNetworksOutcome::Unchanged => {}
    }
    match networks {
        Some(networks) => output::say(&format!("The key is accepted from {networks} only.")),
        None => output::say("The key is accepted from anywhere."),
    }
    Ok(())
}

/// Reads the values of `--network`; `None` for a key that is not limited.
fn read_networks(values: &[String]) -> anyhow::Result<Option<KeyNetworks>> {
    let read = KeyNetworks::parse(&values.join(" ")).context("--network")?;
    anyhow::ensure!(
        read.is_some() || values.is_empty(),
        "--network: name a network such as 10.0.0.0/8"
    );
    Ok(read)
}
