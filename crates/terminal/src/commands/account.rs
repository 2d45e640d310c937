//! `refract account`: accounts, each with its own prisms, keys and results.

use clap::Subcommand;
use refract_domain::event::Actor;
use refract_domain::ids::AccountId;
use refract_persistence::{AccountRow, Creation};
use refract_service::event_stamp;
use serde::Serialize;
use uuid::Uuid;

use super::operator;
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

impl From<AccountRow> for ShownAccount {
    fn from(account: AccountRow) -> Self {
        Self {
            id: account.id.to_string(),
            name: account.name,
        }
    }
}

impl AccountCommand {
    /// Runs a `refract account` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let is_create = matches!(self, Self::Create { .. });
        let database = operator::open_for(&database.settings(), is_create).await?;
        match self {
            Self::Create { name } => {
                let name = operator::name("NAME", &name)?;
                let id = AccountId(Uuid::now_v7());
                let stamp = event_stamp(id, Actor::Operator, None);
                let account = AccountRow {
                    id,
                    name: name.as_str().to_owned(),
                    created_at: stamp.at,
                };
                match database.create_account(&account, stamp).await? {
                    Creation::Created => output::json(&ShownAccount::from(account)),
                    Creation::NameTaken => {
                        anyhow::bail!("there is an account '{}' already", account.name)
                    }
                }
            }
            Self::List { json } => {
                let accounts = database.list_accounts().await?.into_iter();
                let shown: Vec<_> = accounts.map(ShownAccount::from).collect();
                output::list(json, &["id", "name"], &shown, |account| {
                    vec![account.id.clone(), account.name.clone()]
                })
            }
        }
    }
}
