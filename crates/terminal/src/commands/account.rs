//! `refract account`: accounts, each with its own prisms, keys and results. And `refract
//! export-account` and `refract import-account`: everything that an account has, as files, taken
//! into an empty account.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use chrono::{DateTime, Utc};
use clap::{ArgGroup, Args, Subcommand};
use refract_domain::account::MonthBudget;
use refract_domain::ids::AccountId;
use refract_domain::prism::DisplayName;
use refract_identity::people::{Account, AccountActor, AccountError};
use refract_service::Refract;
use refract_service::model::TokenPrice;
use refract_service::results::BudgetUse;
use refract_service::store::{AccountExportOptions, AccountManifest, ImportedAccount};
use serde_json::value::RawValue;

use super::context::{self, AccountArg};
use super::selection;
use crate::arguments::OnOrOff;
use crate::output::report::{self, ListColumn, column};
use crate::output::{self, value};
use crate::settings::{DatabaseArgs, PricesArg};
use crate::streams;
use crate::terminal::{Progress, counted};

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

/// The folder of the files in a tar archive.
const ARCHIVED: &str = "account";

/// The arguments of `refract export-account`.
#[derive(Args)]
pub struct ExportAccountCommand {
    /// A new or empty folder, which only you can read afterwards; `-` writes a tar archive to stdout
    folder: PathBuf,

    /// Only results and events from this time on: a date such as 2026-05-04, which begins at midnight
    /// UTC, or a time such as 2026-05-04T09:00:00Z. Such an export cannot be imported
    #[arg(long, value_name = "TIME", value_parser = selection::moment)]
    since: Option<DateTime<Utc>>,

    /// Without submitted texts and contexts. Such an export cannot be imported
    #[arg(long)]
    without_texts: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl ExportAccountCommand {
    /// Runs `refract export-account`, and prints the manifest.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let is_archive = self.folder == Path::new("-");
        ensure!(
            !is_archive || !streams::stdout_is_terminal(),
            "refusing to write an archive to a terminal: write it to a file or a pipe"
        );
        let (refract, account) = self.account.open(database).await?;
        let actor = AccountActor::operator(account);
        if !is_archive {
            let manifest = self.export(&refract, &actor, &self.folder).await?;
            return output::json(&manifest);
        }
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let manifest = self.export(&refract, &actor, folder.path()).await?;
        write_archive(folder.path(), &manifest)?;
        let rows = manifest.files.iter().map(|listed| listed.rows).sum();
        output::say(&format!("{} written to stdout.", counted(rows, "row")));
        Ok(())
    }

    async fn export(
        &self,
        refract: &Refract,
        actor: &AccountActor,
        folder: &Path,
    ) -> anyhow::Result<AccountManifest> {
        let options = AccountExportOptions {
            since: self.since,
            without_texts: self.without_texts,
        };
        let progress = Progress::begin("rows", None);
        let show = |rows| progress.show(rows, "");
        let (store, name) = (refract.store(), self.account.name());
        let exported = store.export_account(actor, name, options, folder, show);
        let exported = exported.await;
        progress.end();
        Ok(exported?)
    }
}

/// Writes the files as a tar archive to stdout, the manifest first.
fn write_archive(folder: &Path, manifest: &AccountManifest) -> anyhow::Result<()> {
    let mut archive = tar::Builder::new(streams::stdout());
    let files = manifest.files.iter().map(|listed| listed.file.as_str());
    for file in ["manifest.json"].into_iter().chain(files) {
        let name = Path::new(ARCHIVED).join(file);
        let appended = archive.append_path_with_name(folder.join(file), name);
        appended.context(output::NOT_WRITTEN)?;
    }
    archive.finish().context(output::NOT_WRITTEN)
}

/// The arguments of `refract import-account`.
#[derive(Args)]
pub struct ImportAccountCommand {
    /// The folder of an export
    folder: PathBuf,

    /// The account to fill, which must be empty and is made when it is missing [default: the name of
    /// the exported account]
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
}

impl ImportAccountCommand {
    /// Runs `refract import-account`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let name = self.account.as_deref();
        let name = name.map(|name| context::name("--account", name));
        let name = name.transpose()?;
        let refract = context::open_or_create(&database.settings()).await?;
        let progress = Progress::begin("rows", None);
        let show = |rows| progress.show(rows, "");
        let name = name.as_ref().map(DisplayName::as_str);
        let imported = refract
            .store()
            .import_account(&self.folder, name, show)
            .await;
        progress.end();
        let imported = imported?;
        say_what_differs(&imported);
        let outcome = if imported.was_there {
            "unchanged"
        } else {
            "imported"
        };
        output::object(&[
            ("id", value(&imported.account.id.to_string())),
            ("account", value(&imported.account.name)),
            ("outcome", value(&outcome)),
            ("rows", value(&imported.rows)),
        ])
    }
}

/// Says what an import cannot keep.
fn say_what_differs(imported: &ImportedAccount) {
    if imported.was_there {
        output::say("The account has this export already: nothing was done.");
        return;
    }
    if imported.was_begun {
        output::say("The import that had begun went on.");
    }
    if imported.people_removed > 0 {
        output::say(&format!(
            "Imported as removed, because their addresses sign in to other accounts: {} people.",
            imported.people_removed
        ));
    }
    output::say(
        "Not kept: people's names, passwords and sign-ins (invite them again), API keys (all are \
         revoked: make new ones), and uploaded files. File runs and retests that had not ended are \
         ended.",
    );
}
