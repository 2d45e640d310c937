//! `refract results`: saved results.

mod export;
mod list;
mod purge;
mod retry;

use std::process::ExitCode;

use clap::Subcommand;

use crate::settings::DatabaseArgs;

/// The subcommands of `refract results`.
#[derive(Subcommand)]
pub enum ResultsCommand {
    /// Writes every saved result as a row under one header, oldest first
    #[command(
        after_help = "Examples:\n  refract results export support-triage --output results.csv\n  refract results export support-triage --format jsonl --status failed | jq -r .error\n  refract results export support-triage --since 2026-05-01 --until 2026-06-01\n  refract results export support-triage --marks --output marked.csv\n  refract results export support-triage --raw --columns model,cost --output raw.parquet"
    )]
    Export(export::ExportCommand),
    /// Shows one result
    #[command(
        after_help = "Examples:\n  refract results show 0190b8f2-0000-7000-8000-0000000000aa\n  refract results show 0190b8f2-0000-7000-8000-0000000000aa --json --no-text | jq .provenance\n  refract results show --ref order-7"
    )]
    Show(list::ShowCommand),
    /// Lists the newest results of a prism
    #[command(
        after_help = "Examples:\n  refract results list support-triage\n  refract results list support-triage --status failed --limit 100\n  refract results list support-triage --json | jq .answers"
    )]
    List(list::ListCommand),
    /// Retries every failed result of a prism that was never retried
    #[command(
        after_help = "Examples:\n  refract results retry support-triage\n  refract results retry support-triage --since 2026-05-04 --concurrency 4"
    )]
    Retry(Box<retry::RetryCommand>),
    /// Deletes results that were saved before a time, with all that hangs on them
    #[command(
        after_help = "Examples:\n  refract results purge --before 2026-05-01 --dry-run\n  refract results purge support-triage --before 2026-05-01\n  refract results purge support-triage --before 2026-05-01 --status failed"
    )]
    Purge(purge::PurgeCommand),
    /// Deletes the results of one person, with all that hangs on them
    ///
    /// A result's retries go with it, and so does the failed result that it retried: each holds the
    /// texts that were sent.
    #[command(
        after_help = "Examples:\n  refract results erase 0190b8f2-0000-7000-8000-0000000000aa\n  refract results erase --ref customer-4711"
    )]
    Erase(purge::EraseCommand),
}

impl ResultsCommand {
    /// Runs a `refract results` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        match self {
            Self::Export(command) => command.run(database).await?,
            Self::Show(command) => command.run(database).await?,
            Self::List(command) => command.run(database).await?,
            Self::Retry(command) => return command.run(database).await,
            Self::Purge(command) => return command.run(database).await,
            Self::Erase(command) => return command.run(database).await,
        }
        Ok(ExitCode::SUCCESS)
    }
}
