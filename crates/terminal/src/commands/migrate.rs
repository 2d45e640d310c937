//! `refract migrate`: migrates the database to the latest schema, or forward or back to a given
//! migration.

use std::num::NonZeroU64;

use clap::Args;
use refract_service::Refract;
use refract_service::store::{MigrationPlan, MigrationStep, RemovedData};

use super::context;
use crate::arguments;
use crate::output;
use crate::settings::DatabaseArgs;

/// The arguments of `refract migrate`.
#[derive(Args)]
pub struct MigrateCommand {
    /// The number of the migration to go to, such as 7; later ones are undone
    ///
    /// Undoing a migration removes the tables and columns that it made, with what is in them. What is
    /// removed is said first.
    #[arg(long, value_name = "N", value_parser = arguments::from_1::<NonZeroU64>)]
    to: Option<NonZeroU64>,

    /// Only says what would be done and removed
    #[arg(long)]
    dry_run: bool,
}

impl MigrateCommand {
    /// Runs `refract migrate`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let settings = database.settings();
        let to = self.to.map(NonZeroU64::get);
        if self.dry_run {
            return show_plan(&context::connect(&settings).await?, to).await;
        }
        let refract = context::connect_when_up(&settings).await?;
        match to {
            None => up(&refract).await,
            Some(to) => go(&refract, to).await,
        }
    }
}

/// Runs the pending migrations.
async fn up(refract: &Refract) -> anyhow::Result<()> {
    match refract.store().migrate().await? {
        0 => say_arrived(None),
        1 => output::say("1 migration was run."),
        applied => output::say(&format!("{applied} migrations were run.")),
    }
    Ok(())
}

/// Prints the steps, and what they would remove.
async fn show_plan(refract: &Refract, to: Option<u64>) -> anyhow::Result<()> {
    let plan = refract.store().plan_migration(to).await?;
    if plan.steps.is_empty() {
        say_arrived(to);
        return Ok(());
    }
    say_removed(&plan);
    for step in &plan.steps {
        output::say(&format!("{}: would be {}", step.name(), end(step)));
    }
    output::say("Nothing is changed.");
    Ok(())
}

/// Migrates to a given migration, after printing what that removes.
async fn go(refract: &Refract, to: u64) -> anyhow::Result<()> {
    say_removed(&refract.store().plan_migration(Some(to)).await?);
    for step in refract.store().migrate_to(to).await?.steps {
        output::say(&format!("{}: {}", step.name(), end(&step)));
    }
    say_arrived(Some(to));
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

fn counted(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {one}{plural}")
}
