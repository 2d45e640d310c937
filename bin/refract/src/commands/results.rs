//! `refract results`: what was answered and saved.

mod export;
mod list;
mod retry;
mod show;

use std::process::ExitCode;

use anyhow::Context as _;
use chrono::{DateTime, TimeDelta, Utc};
use clap::{Args, Subcommand, ValueEnum};
use refract_domain::result::whole_milliseconds;
use refract_persistence::ResultFilter;

use crate::settings::DatabaseArgs;

/// What may be done with results.
#[derive(Subcommand)]
pub(crate) enum ResultsCommand {
    /// Writes every saved result as a row under one header, oldest first
    #[command(
        after_help = "Examples:\n  refract results export support-triage --output results.csv\n  refract results export support-triage --format jsonl --status failed | jq -r .error\n  refract results export support-triage --since 2026-05-01T00:00:00Z --until 2026-06-01T00:00:00Z"
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
    /// Carries it out.
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

/// Which results of a prism.
#[derive(Args)]
struct FilterArgs {
    /// Only results that are `ok`, or only `failed` ones
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,

    #[command(flatten)]
    period: PeriodArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Status {
    Ok,
    Failed,
}

impl FilterArgs {
    fn filter(&self) -> ResultFilter {
        ResultFilter {
            is_ok: self.status.map(|status| status == Status::Ok),
            ..self.period.filter()
        }
    }
}

/// From when to when.
#[derive(Args)]
struct PeriodArgs {
    /// Only results saved at this time or later, such as 2026-05-04T09:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<DateTime<Utc>>,

    /// Only results saved before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<DateTime<Utc>>,
}

impl PeriodArgs {
    fn filter(&self) -> ResultFilter {
        ResultFilter {
            is_ok: None,
            since: self.since,
            until: self.until,
        }
    }
}

/// A moment as lists show it, in UTC.
fn moment_text(moment: DateTime<Utc>) -> String {
    moment.format("%Y-%m-%d %H:%M").to_string()
}

/// A time in RFC 3339. Results have whole milliseconds: what is at a finer moment or after it is
/// at the next whole one or after that.
fn moment(text: &str) -> anyhow::Result<DateTime<Utc>> {
    let moment = DateTime::parse_from_rfc3339(text)
        .context("expected a time such as 2026-05-04T09:00:00Z or 2026-05-04T11:00:00+02:00")?
        .to_utc();
    let whole = whole_milliseconds(moment);
    if whole == moment {
        return Ok(moment);
    }
    whole
        .checked_add_signed(TimeDelta::milliseconds(1))
        .context("expected an earlier time")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_between_two_milliseconds_counts_from_the_later_one() {
        let read = |text| moment(text).unwrap().to_rfc3339();
        assert_eq!(read("2026-05-04T09:00:00Z"), "2026-05-04T09:00:00+00:00");
        assert_eq!(
            read("2026-05-04T11:00:00.123+02:00"),
            "2026-05-04T09:00:00.123+00:00"
        );
        assert_eq!(
            read("2026-05-04T09:00:00.1230001Z"),
            "2026-05-04T09:00:00.124+00:00"
        );
        assert_eq!(
            read("1969-12-31T23:59:59.9999Z"),
            "1970-01-01T00:00:00+00:00"
        );
        for wrong in ["2026-05-04", "yesterday", "2026-05-04T09:00:00"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }
}
