//! `refract account`: accounts, each with its own prisms, keys and results.

use std::collections::HashMap;

use clap::{ArgGroup, Subcommand};
use refract_domain::account::MonthBudget;
use refract_domain::ids::AccountId;
use refract_identity::people::{Account, AccountActor, AccountError};
use refract_service::model::TokenPrice;
use refract_service::results::BudgetUse;
use serde_json::value::RawValue;

use super::context::{self, AccountArg};
use crate::arguments::OnOrOff;
use crate::output::report::{ListColumn, column};
use crate::output::{self, report, value};
use crate::settings::{DatabaseArgs, PricesArg};

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
    /// Sets an account's budget for each month, and whether its people need one-time codes
    ///
    /// File runs and retests pause when the costs of the month's results reach the budget; API calls go
    /// on. People who sign in by password and lack required codes can only set them up.
    #[command(
        after_help = "Examples:\n  refract account set --budget 200\n  refract account set --account acme --no-budget\n  refract account set --require-codes on",
        group = ArgGroup::new("change").required(true).multiple(true)
    )]
    Set {
        /// Most that a calendar month (UTC) may cost, in the currency of the costs
        #[arg(long, group = "change", value_name = "AMOUNT", value_parser = MonthBudget::parse)]
        budget: Option<MonthBudget>,

        /// Removes the budget
        #[arg(long, group = "change", conflicts_with = "budget")]
        no_budget: bool,

        /// Whether people who sign in by password need one-time codes
        #[arg(long, group = "change", value_name = "ON_OR_OFF")]
        require_codes: Option<OnOrOff>,

        /// A JSON line instead of a sentence
        #[arg(long)]
        json: bool,

        #[command(flatten)]
        prices: PricesArg,

        #[command(flatten)]
        account: AccountArg,
    },
}

/// The columns of the list; the budget is null without one.
const COLUMNS: &[ListColumn<(Account, Option<MonthBudget>)>] = &[
    column("id", "id", |(it, _)| value(&it.id.to_string())),
    column("name", "name", |(it, _)| value(&it.name)),
    column("budget", "budget", |(_, budget)| {
        value(&budget.and_then(exact))
    }),
];

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
                output::object(&[
                    ("id", value(&account.id.to_string())),
                    ("name", value(&account.name)),
                ])
            }
            Self::List { json } => {
                let refract = context::open(&database.settings()).await?;
                let budgets = refract.budgets().list().await?;
                let budgets: HashMap<AccountId, MonthBudget> = budgets.into_iter().collect();
                let accounts = refract.accounts().list().await?.into_iter();
                let shown = accounts.map(|account| {
                    let budget = budgets.get(&account.id).copied();
                    (account, budget)
                });
                report::list(json, COLUMNS, &shown.collect::<Vec<_>>())
            }
            Self::Set {
                budget,
                no_budget,
                require_codes,
                json,
                prices,
                account,
            } => {
                let prices = prices.prices()?;
                let price = prices.map_or(TokenPrice::Unknown, TokenPrice::Known);
                let require_codes = require_codes.map(|state| state == OnOrOff::On);
                let (refract, id) = account.open(database).await?;
                let actor = AccountActor::operator(id);
                let budgets = refract.budgets();
                if budget.is_some() || no_budget {
                    budgets.set(&actor, budget, price).await?;
                }
                if let Some(required) = require_codes {
                    refract
                        .people()
                        .set_codes_required(&actor, required)
                        .await?;
                }
                let found = budgets.find(id).await?;
                report(account.name(), found, require_codes, json)
            }
        }
    }
}

/// Prints an account's budget and what the month has cost, both null without a budget, and whether
/// codes are required, if that was set.
fn report(
    account: &str,
    found: Option<BudgetUse>,
    require_codes: Option<bool>,
    json: bool,
) -> anyhow::Result<()> {
    if json {
        let spent = found.and_then(|found| output::exact_cost(found.spent));
        let mut members = vec![
            ("account", value(&account)),
            (
                "budget",
                value(&found.and_then(|found| exact(found.budget))),
            ),
            ("spent", value(&spent)),
        ];
        members.extend(require_codes.map(|required| ("require_codes", value(&required))));
        return output::object(&members);
    }
    if let Some(required) = require_codes {
        let state = if required { "required" } else { "not required" };
        output::say(&format!("account {account}: one-time codes are {state}"));
    }
    output::say(&match found {
        None => format!("account {account}: no budget"),
        Some(found) => format!(
            "account {account}: a budget of {} a month, of which {} % are used ({})",
            found.budget,
            found.percent(),
            found.spent,
        ),
    });
    Ok(())
}

fn exact(budget: MonthBudget) -> Option<Box<RawValue>> {
    output::exact_cost(budget.as_cost())
}
