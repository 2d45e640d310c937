//! `refract usage`: model requests, tokens and cost of saved results, added up.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use indicatif::HumanCount;
use refract_domain::result::cost::Cost;
use refract_service::results::{ListedUsage, Usage, UsageDimension, UsageScope};
use serde::Serialize;
use serde_json::value::RawValue;

use super::context::{self, AccountArg};
use super::period::PeriodArgs;
use crate::output;
use crate::settings::DatabaseArgs;

/// The headers of the sums.
const SUMS: [&str; 7] = [
    "calls", "failed", "requests", "read", "cached", "written", "cost",
];

/// The arguments of `refract usage`.
#[derive(Args)]
pub struct UsageCommand {
    /// Only the results of this prism: its slug or id
    prism: Option<String>,

    /// What to add up by
    #[arg(
        long,
        value_name = "WHAT",
        value_delimiter = ',',
        default_value = "prism,model"
    )]
    by: Vec<UsageBy>,

    #[command(flatten)]
    period: PeriodArgs,

    /// JSON lines instead of a table
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    account: AccountArg,
}

/// What usage is added up by.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UsageBy {
    Prism,
    Key,
    Model,
    Day,
}

impl From<UsageBy> for UsageDimension {
    fn from(by: UsageBy) -> Self {
        match by {
            UsageBy::Prism => Self::Prism,
            UsageBy::Key => Self::Key,
            UsageBy::Model => Self::Model,
            UsageBy::Day => Self::Day,
        }
    }
}

/// One JSON line. What was not asked for is null.
#[derive(Serialize)]
struct UsageLine<'a> {
    prism: Option<&'a str>,
    key: Option<String>,
    model: Option<&'a str>,
    day: Option<String>,
    calls: u64,
    failed: u64,
    model_requests: u64,
    input_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
    cost: Option<Box<RawValue>>,
}

impl<'a> UsageLine<'a> {
    fn of(listed: &'a ListedUsage) -> Self {
        let usage = listed.usage;
        Self {
            prism: listed.prism.as_deref(),
            key: listed.key.as_ref().map(|key| key.id.to_string()),
            model: listed.model.as_deref(),
            day: listed.day.map(|day| day.to_string()),
            calls: usage.calls,
            failed: usage.failed,
            model_requests: usage.model_requests,
            input_tokens: usage.input_tokens,
            cached_tokens: usage.cached_tokens,
            output_tokens: usage.output_tokens,
            cost: usage.cost.and_then(output::exact_cost),
        }
    }
}

impl UsageCommand {
    /// Runs `refract usage`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, account) = self.account.open(database).await?;
        let prism = match &self.prism {
            None => None,
            Some(name) => Some(context::find_prism(&refract, account, name).await?.id),
        };
        let period = self.period.filter();
        let by: BTreeSet<UsageDimension> = self.by.iter().map(|by| (*by).into()).collect();
        let scope = UsageScope {
            by: by.clone(),
            prism,
            since: period.since,
            until: period.until,
        };
        let listed = refract.results().usage(account, scope).await?;
        if self.json {
            return listed
                .iter()
                .map(UsageLine::of)
                .try_for_each(|json| output::json(&json));
        }
        print_table(&by, &listed)
    }
}

/// Prints a row for each group and, below several ones, their total.
fn print_table(by: &BTreeSet<UsageDimension>, listed: &[ListedUsage]) -> anyhow::Result<()> {
    let headers = by.iter().map(|dimension| header(*dimension)).chain(SUMS);
    let headers: Vec<&str> = headers.collect();
    let row = |listed: &ListedUsage| {
        let names = by.iter().map(|dimension| name(listed, *dimension));
        names.chain(sums(&listed.usage)).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = listed.iter().map(row).collect();
    if listed.len() > 1 {
        let names = by.iter().enumerate().map(|(place, _)| match place {
            0 => "total".to_owned(),
            _ => String::new(),
        });
        rows.push(names.chain(sums(&total(listed))).collect());
    }
    output::table(&headers, rows)
}

fn header(dimension: UsageDimension) -> &'static str {
    match dimension {
        UsageDimension::Prism => "prism",
        UsageDimension::Key => "key",
        UsageDimension::Model => "model",
        UsageDimension::Day => "day",
    }
}

/// The name of a group. Labels of keys need not be unique, so a key has its id too.
fn name(listed: &ListedUsage, dimension: UsageDimension) -> String {
    match dimension {
        UsageDimension::Prism => listed.prism.clone().unwrap_or_default(),
        UsageDimension::Key => match &listed.key {
            Some(key) => format!("{} ({})", key.label, key.id),
            None => "no key".to_owned(),
        },
        UsageDimension::Model => listed
            .model
            .clone()
            .unwrap_or_else(|| "not named".to_owned()),
        UsageDimension::Day => listed.day.map(|day| day.to_string()).unwrap_or_default(),
    }
}

fn sums(usage: &Usage) -> impl Iterator<Item = String> {
    let counts = [
        usage.calls,
        usage.failed,
        usage.model_requests,
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
    ];
    let cost = usage.cost.map(|cost| cost.to_string());
    let counts = counts
        .into_iter()
        .map(|count| HumanCount(count).to_string());
    counts.chain([cost.unwrap_or_default()])
}

fn total(listed: &[ListedUsage]) -> Usage {
    let sum = |number: fn(&Usage) -> u64| {
        let numbers = listed.iter().map(|listed| number(&listed.usage));
        numbers.fold(0, u64::saturating_add)
    };
    let costs: Vec<Cost> = listed
        .iter()
        .filter_map(|listed| listed.usage.cost)
        .collect();
    Usage {
        calls: sum(|usage| usage.calls),
        failed: sum(|usage| usage.failed),
        model_requests: sum(|usage| usage.model_requests),
        input_tokens: sum(|usage| usage.input_tokens),
        cached_tokens: sum(|usage| usage.cached_tokens),
        output_tokens: sum(|usage| usage.output_tokens),
        cost: (!costs.is_empty()).then(|| costs.into_iter().sum()),
    }
}
