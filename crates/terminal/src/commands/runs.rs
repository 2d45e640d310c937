//! `refract runs`: the file runs of the app.

mod show;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use refract_domain::ids::FileRunId;
use refract_domain::result::file_run::{FileRunChange, FileRunState};
use refract_identity::people::AccountActor;
use refract_service::Refract;
use refract_service::runs::{ChangeRunOutcome, DeleteUploadOutcome, RunPage};

use self::show::COLUMNS;
use super::context::{self, AccountArg};
use crate::output::{self, listing};
use crate::settings::DatabaseArgs;

/// The number of runs in a table, and in one query.
const IN_TABLE: u32 = 100;

/// The subcommands of `refract runs`.
#[derive(Subcommand)]
pub enum RunsCommand {
    /// Lists file runs, newest first
    #[command(
        after_help = "Examples:\n  refract runs list\n  refract runs list support-triage --json | jq -r 'select(.state == \"running\") | .id'"
    )]
    List {
        /// Only runs of this prism: its slug or id
        prism: Option<String>,
        /// All as JSON lines instead of a table of the newest
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Shows a file run: its counts, what it cost, and why rows failed
    #[command(after_help = "Examples:\n  refract runs show 0190b8f2-0000-7000-8000-0000000000aa")]
    Show {
        #[command(flatten)]
        run: RunArg,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Pauses a running file run; rows in flight are finished
    #[command(after_help = "Examples:\n  refract runs pause 0190b8f2-0000-7000-8000-0000000000aa")]
    Pause(RunArg),
    /// Resumes a paused file run
    #[command(after_help = "Examples:\n  refract runs resume 0190b8f2-0000-7000-8000-0000000000aa")]
    Resume(RunArg),
    /// Ends a file run before its last row, for good; results are kept
    #[command(after_help = "Examples:\n  refract runs cancel 0190b8f2-0000-7000-8000-0000000000aa")]
    Cancel(RunArg),
    /// Deletes the file of a run and of other runs of it; results are kept
    #[command(
        after_help = "Examples:\n  refract runs delete-file 0190b8f2-0000-7000-8000-0000000000aa"
    )]
    DeleteFile(RunArg),
}

/// A file run that a command names.
#[derive(Args)]
pub struct RunArg {
    /// The run's id
    id: String,
    #[command(flatten)]
    account: AccountArg,
}

impl RunsCommand {
    /// Runs a `refract runs` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        match self {
            Self::List {
                prism,
                json,
                account,
            } => list(prism.as_deref(), json, &account, database).await,
            Self::Show { run, json } => {
                let (refract, account) = run.account.open(database).await?;
                let found = refract.runs().find_file_run(account, run.id()?).await?;
                let found = found.with_context(|| run.missing())?;
                let cost = refract.runs().cost(&found).await?;
                show::print(&found, cost, json)
            }
            Self::Pause(run) => {
                let changed = run.change(database, FileRunChange::Pause, "paused");
                changed.await?;
                output::say("The run is paused: rows in flight are finished.");
                Ok(())
            }
            Self::Resume(run) => {
                let changed = run.change(database, FileRunChange::Resume, "resumed");
                changed.await?;
                output::say("The run goes on as soon as a node takes it.");
                Ok(())
            }
            Self::Cancel(run) => {
                let changed = run.change(database, FileRunChange::Cancel, "cancelled");
                changed.await?;
                output::say("The run is cancelled. Its results are kept.");
                Ok(())
            }
            Self::DeleteFile(run) => run.delete_file(database).await,
        }
    }
}

impl RunArg {
    fn id(&self) -> anyhow::Result<FileRunId> {
        FileRunId::parse(&self.id).context("ID cannot be used: Invalid uuid")
    }

    fn missing(&self) -> String {
        let account = self.account.name();
        format!("the account {account} has no file run of this id: see `refract runs list`")
    }

    /// Deletes the file of the run; a file that is deleted already is no error.
    async fn delete_file(&self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, account) = self.account.open(database).await?;
        let runs = refract.runs();
        let found = runs.find_file_run(account, self.id()?).await?;
        let found = found.with_context(|| self.missing())?;
        let actor = AccountActor::operator(account);
        let outcome = match found.upload {
            Some(upload) => runs.delete_upload(&actor, upload).await?,
            None => DeleteUploadOutcome::NotFound,
        };
        match outcome {
            DeleteUploadOutcome::Deleted => output::say("The file is deleted."),
            DeleteUploadOutcome::NotFound => output::say("The file was deleted before."),
            DeleteUploadOutcome::InUse => {
                bail!("a run of the file is worked on or paused: cancel it first")
            }
        }
        Ok(())
    }

    /// Changes the state of the run. `done` is the change in an error message.
    async fn change(
        &self,
        database: &DatabaseArgs,
        change: FileRunChange,
        done: &'static str,
    ) -> anyhow::Result<()> {
        let (refract, account) = self.account.open(database).await?;
        let actor = AccountActor::operator(account);
        let runs = refract.runs();
        match runs
            .change_file_run(&actor, self.id()?, change, None)
            .await?
        {
            ChangeRunOutcome::Changed(_) => Ok(()),
            ChangeRunOutcome::NotFound => bail!(self.missing()),
            ChangeRunOutcome::NotPossible(state) => {
                bail!(
                    "the run is {state}: only a run that is {} can be {done}",
                    before(change)
                )
            }
            ChangeRunOutcome::FileDeleted => {
                bail!("the file of the run was deleted, so it cannot be {done}: upload it again")
            }
            ChangeRunOutcome::VersionNotFound => bail!("Prism version not found"),
        }
    }
}

/// The states from which a change is possible, in words.
fn before(change: FileRunChange) -> String {
    let states = FileRunState::ALL.into_iter();
    let states = states.filter(|state| state.after(change).is_some());
    let names: Vec<&str> = states.map(FileRunState::name).collect();
    names.join(" or ")
}

async fn list(
    prism: Option<&str>,
    json: bool,
    account: &AccountArg,
    database: &DatabaseArgs,
) -> anyhow::Result<()> {
    let (refract, account) = account.open(database).await?;
    let prism = match prism {
        None => None,
        Some(name) => Some(context::find_prism(&refract, account, name).await?.id),
    };
    let page = async |refract: &Refract, before, limit| {
        let page = RunPage { before, limit };
        refract.runs().list_file_runs(account, prism, page).await
    };
    if json {
        let mut before = None;
        loop {
            let runs = page(&refract, before, IN_TABLE).await?;
            let Some(last) = runs.last() else {
                return Ok(());
            };
            before = Some(last.id);
            listing::list(json, COLUMNS, &runs)?;
        }
    }
    let runs = page(&refract, None, IN_TABLE).await?;
    listing::list(json, COLUMNS, &runs)?;
    if let Some(last) = runs.last()
        && !page(&refract, Some(last.id), 1).await?.is_empty()
    {
        output::say(&format!(
            "These are the newest {IN_TABLE}: --json lists all."
        ));
    }
    Ok(())
}
