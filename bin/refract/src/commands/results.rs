//! `refract results`: saved results.

mod export;
mod filter;
mod list;
mod retry;
mod show;

use std::process::ExitCode;

use clap::Subcommand;

use crate::settings::DatabaseArgs;

/// The subcommands of `refract results`.
#[derive(Subcommand)]
pub(crate) enum ResultsCommand {
    /// Writes every saved result as a row under one header, oldest first
    #[command(
        after_help = "Examples:\n  refract results export support-triage --output results.csv\n  refract results export support-triage --format jsonl --status failed | jq -r .error\n  refract results export support-triage --since 2026-05-01T00:00:00Z --until 2026-06-01T00:00:00Z\n  refract results export support-triage --marks --output marked.csv"
    )]
    Export(export::ExportCommand),
    /// Shows one result
    #[command(
        after_help = "Examples:\n  refract results show 0190b8f2-0000-7000-8000-0000000000aa\n  refract results show 0190b8f2-0000-7000-8000-0000000000aa --format csv"
    )]
    Show(show::ShowCommand),
    /// Lists the newest results of a prism
    #[command(
        after_help = "Examples:\n  refract results list support-triage\n  refract results list support-triage --status failed --limit 100\n  refract results list support-triage --json | jq .answers"
    )]
    List(list::ListCommand),
    /// Retries every failed result of a prism that was never retried
    #[command(
        after_help = "Examples:\n  refract results retry support-triage --failed\n  refract results retry support-triage --failed --since 2026-05-04T09:00:00Z --concurrency 4"
    )]
    Retry(retry::RetryCommand),
}

impl ResultsCommand {
    /// Runs a `refract results` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        match self {
            Self::Export(command) => command.run(database).await?,
            Self::Show(command) => command.run(database).await?,
            Self::List(command) => command.run(database).await?,
            Self::Retry(command) => return command.run(database).await,
        }
        Ok(ExitCode::SUCCESS)
    }
}
