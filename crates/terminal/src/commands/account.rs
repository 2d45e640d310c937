//! `refract account`: accounts, each with its own prisms, keys and results.

use clap::Subcommand;
use refract_service::people::{Account, AccountError};
use serde::Serialize;

use super::context;
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
        /// Prints the account of this name if there is one, instead of failing
        #[arg(long)]
        if_missing: bool,
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
            Self::Create { name, if_missing } => {
                let refract = context::open_or_create(&database.settings()).await?;
                let name = context::name("NAME", &name)?;
                let account = match refract.accounts().create(&name).await {
                    Err(AccountError::NameTaken(name)) if if_missing => {
                        refract.accounts().find(&name).await?
                    }
                    created => created?,
                };
                output::json(&ShownAccount::from(account))
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
