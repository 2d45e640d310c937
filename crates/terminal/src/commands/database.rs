//! `refract migrate`: migrates the database to the latest schema, or forward or back to a given
//! version. `refract backup`: copies the SQLite file while it is in use.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use refract_service::Refract;
use refract_service::store::{
    self, BackupError, DatabaseSettings, DatabaseUrl, MigrationPlan, MigrationStep, RemovedData,
};
use serde::Serialize;

use super::context;
use crate::output::{self, value};
use crate::settings::DatabaseArgs;
use crate::terminal::{counted, widened};
use crate::{arguments, streams};

/// The arguments of `refract migrate`.
#[derive(Args)]
pub struct MigrateCommand {
    /// The number of the migration to go to, such as 7; later ones are undone
    ///
    /// Undoing a migration removes the tables and columns that it made, with what is in them. What is
    /// removed is listed first; then a terminal is asked, anything else needs --yes.
    #[arg(long, value_name = "N", value_parser = arguments::from_1::<NonZeroU64>)]
    to: Option<NonZeroU64>,

    /// Only says what would be done and removed
    #[arg(long)]
    dry_run: bool,

    /// Undoes migrations without asking
    #[arg(long)]
    yes: bool,

    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// The JSON output of `refract migrate`.
#[derive(Serialize)]
struct MigrateReport {
    /// How many migrations were run, or would be.
    run: u64,
    /// How many migrations were undone, or would be.
    undone: u64,
    removed: Vec<RemovedData>,
}

impl From<MigrationPlan> for MigrateReport {
    fn from(plan: MigrationPlan) -> Self {
        let undone = plan.steps.iter().filter(|step| step.is_undone()).count();
        Self {
            run: widened(plan.steps.len() - undone),
            undone: widened(undone),
            removed: plan.removed,
        }
    }
}

impl MigrateCommand {
    /// Runs `refract migrate`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let settings = database.settings();
        let to = self.to.map(NonZeroU64::get);
        let report = if self.dry_run {
            show_plan(&context::connect(&settings).await?, to).await?
        } else {
            let refract = context::connect_when_up(&settings).await?;
            match to {
                None => up(&refract).await?,
                Some(to) => go(&refract, to, self.yes).await?,
            }
        };
        if self.json {
            output::json(&report)?;
        }
        Ok(())
    }
}

/// Runs the pending migrations.
async fn up(refract: &Refract) -> anyhow::Result<MigrateReport> {
    let run = refract.store().migrate().await?;
    match run {
        0 => say_arrived(None),
        1 => output::say("1 migration was run."),
        run => output::say(&format!("{run} migrations were run.")),
    }
    Ok(MigrateReport {
        run: widened(run),
        undone: 0,
        removed: Vec::new(),
    })
}

/// Prints the steps, and what they would remove.
async fn show_plan(refract: &Refract, to: Option<u64>) -> anyhow::Result<MigrateReport> {
    let plan = refract.store().plan_migration(to).await?;
    if plan.steps.is_empty() {
        say_arrived(to);
        return Ok(plan.into());
    }
    say_removed(&plan);
    for step in &plan.steps {
        output::say(&format!("{}: would be {}", step.name(), end(step)));
    }
    output::say("Nothing is changed.");
    Ok(plan.into())
}

/// Migrates to a given migration, after printing what that removes and, unless `is_sure`, asking.
async fn go(refract: &Refract, to: u64, is_sure: bool) -> anyhow::Result<MigrateReport> {
    let plan = refract.store().plan_migration(Some(to)).await?;
    say_removed(&plan);
    let undone = plan.steps.iter().filter(|step| step.is_undone()).count();
    if undone > 0 && !is_sure {
        confirm(to, widened(undone))?;
    }
    let done = refract.store().migrate_to(to).await?;
    for step in &done.steps {
        output::say(&format!("{}: {}", step.name(), end(step)));
    }
    say_arrived(Some(to));
    Ok(MigrationPlan {
        steps: done.steps,
        removed: plan.removed,
    }
    .into())
}

/// Asks on the terminal whether to undo migrations.
///
/// # Errors
/// The answer is not yes, or there is no terminal to ask on.
fn confirm(to: u64, undone: u64) -> anyhow::Result<()> {
    let undone = counted(undone, "migration");
    if !streams::stdin_is_terminal() || !streams::stderr_is_terminal() {
        bail!(
            "nothing was changed: going to migration {to} undoes {undone}, which removes data for \
             good; add --yes to do it"
        );
    }
    output::say(&format!("Undo {undone}? Type yes to go on:"));
    let mut answer = String::new();
    let read = BufReader::new(streams::stdin()).read_line(&mut answer);
    read.context("cannot read the answer")?;
    ensure!(
        ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()),
        "nothing was changed"
    );
    Ok(())
}

fn say_arrived(to: Option<u64>) {
    match to {
        None => output::say("The database is up to date."),
        Some(to) => output::say(&format!("The database is at migration {to}.")),
    }
}

/// Prints what the steps remove; nothing if no migration is undone.
fn say_removed(plan: &MigrationPlan) {
    if !plan.steps.iter().any(MigrationStep::is_undone) {
        return;
    }
    if plan.removed.is_empty() {
        output::say("No table and no column is removed.");
        return;
    }
    output::say("What is removed:");
    for RemovedData {
        table,
        column,
        rows,
    } in &plan.removed
    {
        let what = match column {
            None => format!("table {table}: {}", counted(*rows, "row")),
            Some(column) => format!("column {table}.{column}: {}", counted(*rows, "value")),
        };
        output::say(&format!("  {what}"));
    }
}

fn end(step: &MigrationStep) -> &'static str {
    if step.is_undone() { "undone" } else { "run" }
}

/// The arguments of `refract backup`.
#[derive(Args)]
pub struct BackupCommand {
    /// A file that does not exist yet, which appears when the copy is complete; `-` is stdout
    file: PathBuf,
}

impl BackupCommand {
    /// Runs `refract backup`, without migrating: a backup precedes an upgrade.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let settings = database.settings();
        let url = &settings.url;
        if self.file == Path::new("-") {
            to_stdout(url).await?;
            say_migration(&settings).await;
            return Ok(());
        }
        let bytes = back_up(url, &self.file).await?;
        say_migration(&settings).await;
        output::object(&[
            ("file", value(&self.file.display().to_string())),
            ("bytes", value(&bytes)),
        ])
    }
}

/// Says where the database, which is copied all the same, is at another migration than this program.
async fn say_migration(settings: &DatabaseSettings) {
    if let Ok(refract) = context::connect(settings).await
        && let Err(error) = refract.store().check_schema().await
    {
        output::say(&error.to_string());
    }
}

/// Creates the copy, and returns its size in bytes.
async fn back_up(url: &DatabaseUrl, file: &Path) -> anyhow::Result<u64> {
    match store::back_up(url, file).await {
        Err(BackupError::Source(error)) => Err(context::not_opened(error)),
        made => Ok(made?),
    }
}

/// Writes the copy to stdout through a temporary folder that only its owner can open.
async fn to_stdout(url: &DatabaseUrl) -> anyhow::Result<()> {
    ensure!(
        !streams::stdout_is_terminal(),
        "refusing to write a database to a terminal: write it to a file or a pipe"
    );
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let copy = folder.path().join("backup.db");
    back_up(url, &copy).await?;
    let mut copy = File::open(&copy).context("cannot read the copy")?;
    let bytes = io::copy(&mut copy, &mut streams::stdout()).context(output::NOT_WRITTEN)?;
    output::say(&format!("{} written to stdout.", counted(bytes, "byte")));
    Ok(())
}
