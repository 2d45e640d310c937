//! `refract results`: saved results. `refract results retry`: retries every failed result of a
//! prism that was never retried.

mod export;
mod list;
mod purge;

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use refract_identity::people::AccountActor;
use refract_service::model::ModelGateway;
use refract_service::results::{Retried, RetryFailed};
use refract_service::runs::{AskingPace, EarlyEnd};

use super::context;
use super::context::AccountArg;
use super::signals::StopSignals;
use crate::arguments;
use crate::commands::selection::PeriodArgs;
use crate::output::{self, value};
use crate::settings::{DatabaseArgs, ModelArgs};
use crate::terminal::{Progress, counted};

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
    Retry(Box<RetryCommand>),
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

/// The arguments of `refract results retry`.
#[derive(Args)]
pub struct RetryCommand {
    /// Slug or id
    prism: String,

    /// Only failed results that were never retried, which is what is retried in any case
    #[arg(long)]
    failed: bool,

    /// Calls at once
    #[arg(long, value_name = "N", default_value = "16", value_parser = arguments::from_1::<NonZeroUsize>)]
    concurrency: NonZeroUsize,

    /// Goes on however often the model fails [default: stops after 50 failures in a row plus --concurrency]
    #[arg(long)]
    keep_going: bool,

    #[command(flatten)]
    period: PeriodArgs,

    #[command(flatten)]
    account: AccountArg,

    #[command(flatten)]
    model: ModelArgs,
}

impl RetryCommand {
    /// Runs `refract results retry`. A result that failed again gives exit status 1.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let mut gateway = ModelGateway::new(self.model.settings()?)?;
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let filter = self.period.filter();
        let refract = refract.with_gateway(&mut gateway).await?;
        context::say_if_for_trying_only(&refract);
        let results = refract.results();
        let total = results
            .count_retriable(prism.account, prism.id, filter.clone())
            .await?;
        let what = RetryFailed {
            actor: AccountActor::operator(prism.account),
            prism: prism.id,
            filter,
            pace: AskingPace {
                concurrency: self.concurrency,
                gives_up: !self.keep_going,
            },
        };
        let mut signals = StopSignals::watch()?;
        let progress = Progress::begin("results", Some(total));
        let mut is_reported = false;
        let show = |retried: &Retried| {
            if retried.asked.end.is_some() && !is_reported {
                is_reported = true;
                progress.beside(|| output::say("Stopping when the calls under way have ended."));
            }
            progress.show(retried.done(), &render(retried));
        };
        let ended = results.retry_failed(what, signals.next(), show).await;
        progress.end();
        refract.keep_server_facts().await;
        summarise(&ended?)
    }
}

fn render(retried: &Retried) -> String {
    match retried.not_answered() {
        0 => String::new(),
        failed => format!(", {failed} failed again"),
    }
}

fn summarise(retried: &Retried) -> anyhow::Result<ExitCode> {
    let not_answered = retried.not_answered();
    output::object(&[
        ("retried", value(&retried.done())),
        ("ok", value(&retried.asked.answered)),
        ("failed", value(&not_answered)),
    ])?;
    let causes = retried.asked.failed.iter().chain(&retried.refused);
    for (cause, results) in causes {
        output::say(&format!("{results} × {cause}"));
    }
    if let Some(end) = &retried.asked.end {
        let words = match end {
            EarlyEnd::Asked => "error: stopped: the same command goes on with the rest".to_owned(),
            EarlyEnd::ModelAway { failures, error } => format!(
                "error: the model failed {failures} times in a row: {error} The same command goes on \
                 with the rest"
            ),
            EarlyEnd::CreditUsedUp { error } => {
                format!("error: {error} The same command goes on with the rest")
            }
        };
        return Ok(output::fail_with(&words));
    }
    if not_answered > 0 {
        let results = counted(not_answered, "result");
        let words = format!("error: {results} failed again: the same command retries them");
        return Ok(output::fail_with(&words));
    }
    Ok(ExitCode::SUCCESS)
}
