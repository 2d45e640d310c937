//! `refract runs`: the file runs of the app.

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use refract_domain::ids::FileRunId;
use refract_domain::result::{Cost, FileRunChange, FileRunState};
use refract_identity::people::AccountActor;
use refract_service::Refract;
use refract_service::model::TokenPrice;
use refract_service::runs::{
    ChangeRunOutcome, DeleteUploadOutcome, RunPage, StoredMapping, StoredRun,
};

use super::context::{self, AccountArg};
use crate::commands::selection::to_the_second;
use crate::output::report::{ListColumn, column, worded};
use crate::output::{self, NamedMembers, report, value};
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
                let cost = refract.runs().usage(&found).await?.cost;
                print(&found, cost, json)
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
            ChangeRunOutcome::PrismArchived => bail!("the prism is archived: restore it first"),
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
            report::list(json, COLUMNS, &runs)?;
        }
    }
    let runs = page(&refract, None, IN_TABLE).await?;
    report::list(json, COLUMNS, &runs)?;
    if let Some(last) = runs.last()
        && !page(&refract, Some(last.id), 1).await?.is_empty()
    {
        output::say(&format!(
            "These are the newest {IN_TABLE}: --json lists all."
        ));
    }
    Ok(())
}

/// Prints a run as a table of names and values, or as JSON.
fn print(run: &StoredRun, cost: Option<Cost>, json: bool) -> anyhow::Result<()> {
    if json {
        return print_json(run, cost);
    }
    let asked = run.progress.model_requests > 0;
    let cost = TokenPrice::Unknown.of_results(cost).filter(|_| asked);
    output::table(&["what", "value"], rows(run, cost))
}

/// Prints a run as one JSON object: the keys of a list, and more.
fn print_json(run: &StoredRun, cost: Option<Cost>) -> anyhow::Result<()> {
    let (progress, limits) = (&run.progress, &run.limits);
    let failures = progress.failures.iter().map(|(error, rows)| {
        let failure = [("error", value(error)), ("rows", value(rows))];
        value(&NamedMembers(&failure))
    });
    let mut members = report::members(COLUMNS, run);
    members.extend([
        ("reason", value(&run.reason)),
        ("is_leased", value(&run.is_leased)),
        ("file", value(&run.file_name)),
        ("sha256", value(&run.file_sha256)),
        ("file_deleted", value(&run.upload.is_none())),
        ("columns", value(&run.mappings)),
        ("answered_before", value(&progress.answered_before)),
        ("truncated", value(&progress.truncated)),
        ("model_requests", value(&progress.model_requests)),
        ("input_tokens", value(&progress.input_tokens)),
        ("output_tokens", value(&progress.output_tokens)),
        // null if no result has a cost
        ("cost", value(&cost.and_then(output::exact_cost))),
        ("rows_a_minute", value(&progress.rows_a_minute)),
        ("most_model_requests", value(&limits.model_requests)),
        ("most_tokens", value(&limits.tokens)),
        ("most_failed_rows", value(&limits.failed_rows)),
        ("failures", value(&failures.collect::<Vec<_>>())),
        ("started_at", value(&run.started_at.map(to_the_second))),
        ("ended_at", value(&run.ended_at.map(to_the_second))),
    ]);
    output::object(&members)
}

/// The names and values that are there, with the cost in words.
fn rows(run: &StoredRun, cost: Option<String>) -> Vec<Vec<String>> {
    let (progress, limits) = (&run.progress, &run.limits);
    let number = |value: u64| Some(value.to_string());
    let deleted = match run.upload {
        Some(_) => "",
        None => " (deleted)",
    };
    let working = if run.is_leased { " (on a node)" } else { "" };
    let mut rows = vec![
        ("run", Some(run.id.to_string())),
        ("prism", Some(format!("{} {}", run.prism_slug, run.version))),
        ("state", Some(format!("{}{working}", run.state.name()))),
        ("reason", run.reason.clone()),
        ("file", Some(format!("{}{deleted}", run.file_name))),
        ("rows", number(progress.rows)),
        ("refused", number(progress.refused)),
        ("answered", number(answered(run))),
        ("answered before", number(progress.answered_before)),
        ("failed", number(progress.failed)),
        ("truncated", number(progress.truncated)),
        ("model requests", number(progress.model_requests)),
        ("tokens read", number(progress.input_tokens)),
        ("tokens written", number(progress.output_tokens)),
        ("cost", cost),
        ("rows a minute", progress.rows_a_minute.and_then(number)),
        (
            "model requests at most",
            limits.model_requests.and_then(number),
        ),
        ("tokens at most", limits.tokens.and_then(number)),
        ("failed rows at most", limits.failed_rows.and_then(number)),
        ("created", Some(to_the_second(run.made_at))),
        ("started", run.started_at.map(to_the_second)),
        ("ended", run.ended_at.map(to_the_second)),
        ("by", Some(by(run).to_owned())),
    ];
    for StoredMapping { column, field } in &run.mappings {
        rows.push(("column", Some(format!("{column} as {field}"))));
    }
    for (error, number) in &progress.failures {
        rows.push(("failures", Some(format!("{number}: {error}"))));
    }
    let present = rows.into_iter();
    let present = present.filter_map(|(name, value)| Some(vec![name.to_owned(), value?]));
    present.collect()
}

/// The columns of a list of runs.
const COLUMNS: &[ListColumn<StoredRun>] = &[
    column("id", "id", |it| value(&it.id.to_string())),
    column("prism", "prism", |it| value(&it.prism_slug.as_str())),
    column("version", "version", |it| value(&it.version.get())),
    column("state", "state", |it| value(&it.state.name())),
    column("rows", "rows", |it| value(&it.progress.rows)),
    column("answered", "answered", |it| value(&answered(it))),
    column("failed", "failed", |it| value(&it.progress.failed)),
    column("refused", "refused", |it| value(&it.progress.refused)),
    column("created_at", "created", |it| {
        value(&to_the_second(it.made_at))
    }),
    worded(
        "by",
        "by",
        |it| value(&it.by.as_deref()),
        |it| by(it).to_owned(),
    ),
];

fn answered(run: &StoredRun) -> u64 {
    let progress = &run.progress;
    progress.answered_before.saturating_add(progress.answered)
}

fn by(run: &StoredRun) -> &str {
    run.by.as_deref().unwrap_or("operator")
}
