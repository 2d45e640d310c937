//! `refract usage`: model requests, tokens and cost of saved results, added up.

use std::collections::BTreeSet;

use chrono::Utc;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::HumanCount;
use refract_service::results::{
    ListedUsage, USAGE_SUMS, Usage, UsageDimension, UsageScope, total_usage, usage_csv,
};

use super::context::{self, AccountArg};
use super::key::list::find_key;
use super::selection::PeriodArgs;
use crate::output::{self, value};
use crate::settings::DatabaseArgs;

/// The arguments of `refract usage`.
#[derive(Args)]
pub struct UsageCommand {
    /// Only the results of this prism: its slug or id
    prism: Option<String>,

    /// Only the results that this key made: its id, or its name if no other key has it
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// What to add up by
    #[arg(
        long,
        value_name = "WHAT",
        value_delimiter = ',',
        default_value = "prism,model",
        value_parser = dimensions()
    )]
    by: Vec<UsageDimension>,

    #[command(flatten)]
    period: PeriodArgs,

    /// JSON lines instead of a table
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Rows of csv instead of a table
    #[arg(long)]
    csv: bool,

    #[command(flatten)]
    account: AccountArg,
}

/// Prints one JSON line. What was not asked for is null; a person and a run, which the contract does not
/// name, are there if they were asked for.
fn print_json(by: &BTreeSet<UsageDimension>, listed: &ListedUsage) -> anyhow::Result<()> {
    let key = listed.key.as_ref().map(|key| key.id.to_string());
    let run = listed.run.as_ref().map(|run| run.id.to_string());
    let mut members = vec![("prism", value(&listed.prism)), ("key", value(&key))];
    if by.contains(&UsageDimension::Person) {
        members.push(("person", value(&listed.person)));
    }
    if by.contains(&UsageDimension::Run) {
        members.push(("run", value(&run)));
    }
    let usage = listed.usage;
    members.extend([
        ("model", value(&listed.model)),
        ("day", value(&listed.day.map(|day| day.to_string()))),
        ("calls", value(&usage.calls)),
        ("failed", value(&usage.failed)),
        ("model_requests", value(&usage.model_requests)),
        ("input_tokens", value(&usage.input_tokens)),
        ("cached_tokens", value(&usage.cached_tokens)),
        ("output_tokens", value(&usage.output_tokens)),
        ("cost", value(&usage.cost.and_then(output::exact_cost))),
    ]);
    output::object(&members)
}

impl UsageCommand {
    /// Runs `refract usage`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, account) = self.account.open(database).await?;
        let prism = match &self.prism {
            None => None,
            Some(name) => Some(context::find_prism(&refract, account, name).await?.id),
        };
        let key = match &self.key {
            None => None,
            Some(called) => Some(find_key(&refract, account, called).await?),
        };
        let period = self.period.filter();
        let by: BTreeSet<UsageDimension> = self.by.iter().copied().collect();
        let scope = UsageScope {
            by: by.clone(),
            prism,
            key,
            since: period.since,
            until: period.until,
        };
        // where no server counts in the background
        let now = refract.store().time(Utc::now()).await?;
        if let Err(error) = refract.results().count_now(account, now).await {
            // a standby, or a user who may only read: what is not counted is read below
            tracing::debug!(%error, "results could not be counted");
        }
        let listed = refract.results().usage(account, scope).await?;
        if self.json {
            return listed.iter().try_for_each(|listed| print_json(&by, listed));
        }
        if self.csv {
            return output::data(&usage_csv(&by, &listed));
        }
        print_table(&by, &listed)
    }
}

/// Prints a row for each group and, below several ones, their total.
fn print_table(by: &BTreeSet<UsageDimension>, listed: &[ListedUsage]) -> anyhow::Result<()> {
    let headers = by
        .iter()
        .map(|dimension| dimension.name())
        .chain(USAGE_SUMS);
    let headers: Vec<&str> = headers.collect();
    let row = |listed: &ListedUsage| {
        let names = by.iter().map(|dimension| listed.name(*dimension));
        names.chain(sums(&listed.usage)).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = listed.iter().map(row).collect();
    if listed.len() > 1 {
        let names = by.iter().enumerate().map(|(place, _)| match place {
            0 => "total".to_owned(),
            _ => String::new(),
        });
        rows.push(names.chain(sums(&total_usage(listed))).collect());
    }
    output::table(&headers, rows)
}

fn sums(usage: &Usage) -> impl Iterator<Item = String> {
    let cost = usage.cost.map(|cost| cost.to_string());
    let counts = usage.counts().into_iter();
    let counts = counts.map(|count| HumanCount(count).to_string());
    counts.chain([cost.unwrap_or_default()])
}

/// Reads the name of a dimension.
fn dimensions() -> impl TypedValueParser<Value = UsageDimension> {
    let names = UsageDimension::ALL.map(UsageDimension::name);
    PossibleValuesParser::new(names)
        .try_map(|name| UsageDimension::named(&name).ok_or("is no dimension"))
}
