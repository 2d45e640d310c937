//! `refract account`: accounts, each with its own prisms, keys and results.

use clap::{ArgAction, Subcommand};
use refract_service::people::{Account, AccountActor};
use serde::Serialize;

use super::context::{self, AccountArg};
use crate::output;
use crate::settings::DatabaseArgs;

/// The subcommands of `refract account`.
#[derive(Subcommand)]
pub enum AccountCommand {
    /// Makes an account
    #[command(after_help = "Examples:\n  refract account create acme")]
    Create {
        /// The account's name, unique
        name: String,
    },
    /// Sets what an account requires
    ///
    /// People who sign in by password and lack required one-time codes can only set them up.
    #[command(after_help = "Examples:\n  refract account set --require-codes on")]
    Set {
        /// Whether people who sign in by password need one-time codes: `on` or `off`
        #[arg(long, value_name = "STATE", action = ArgAction::Set, value_parser = on_or_off)]
        require_codes: bool,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Lists the accounts
    #[command(
        after_help = "Examples:\n  refract account list\n  refract account list --json | jq -r .name"
    )]
    List {
        /// JSON lines instead of a table
        #[arg(long)]
        json: bool,
    },
}

#[derive(Serialize)]
struct ShownAccount {
    id: String,
    name: String,
}

#[derive(Serialize)]
struct ShownRequirement<'a> {
    name: &'a str,
    require_codes: bool,
}

impl From<Account> for ShownAccount {
    fn from(account: Account) -> Self {
        Self {
            id: account.id.to_string(),
            name: account.name,
        }
    }
}

impl AccountCommand {
    /// Runs a `refract account` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        match self {
            Self::Create { name } => {
                let refract = context::open_or_create(&database.settings()).await?;
                let name = context::name("NAME", &name)?;
                let account = refract.accounts().create(&name).await?;
                output::json(&ShownAccount::from(account))
            }
            Self::Set {
                require_codes,
                account,
            } => {
                let (refract, id) = account.open(database).await?;
                let actor = AccountActor::operator(id);
                let people = refract.people();
                people.set_codes_required(&actor, require_codes).await?;
                output::json(&ShownRequirement {
                    name: account.name(),
                    require_codes,
                })
            }
            Self::List { json } => {
                let refract = context::open(&database.settings()).await?;
                let accounts = refract.accounts().list().await?.into_iter();
                let shown: Vec<_> = accounts.map(ShownAccount::from).collect();
                output::list(json, &["id", "name"], &shown, |account| {
                    vec![account.id.clone(), account.name.clone()]
                })
            }
        }
    }
}

/// Parses a state.
fn on_or_off(text: &str) -> Result<bool, &'static str> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off"),
    }
}
