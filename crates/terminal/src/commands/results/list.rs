//! `refract results list`: the newest results of a prism at a glance. `refract results show`: one
//! result, with facts for operators only.

use std::num::NonZeroU32;

use anyhow::{Context as _, anyhow, ensure};
use chrono::{DateTime, Utc};
use clap::Args;
use refract_domain::answer::most_probable;
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::lens::{Column, Value};
use refract_domain::submission::Ref;
use refract_lens_rendering::{Format, render};
use refract_service::results::{ReadableResult, ResultFilter, ResultOrder};
use refract_service::{CallError, Refract};

use super::super::context::{AccountArg, find_prism, invalid_argument};
use crate::commands::selection::FilterArgs;
use crate::commands::shown_result::{self, Facts, ResultDisplay};
use crate::settings::DatabaseArgs;
use crate::terminal::{counted, widened};
use crate::{arguments, output, terminal};

/// The separator between the values of a row.
const BETWEEN: &str = " · ";
/// The most results with one `ref` that are named beside the newest.
const NAMED: usize = 5;

/// The arguments of `refract results list`.
#[derive(Args)]
pub struct ListCommand {
    /// Slug or id
    prism: String,

    /// How many at most
    #[arg(long, value_name = "N", default_value = "20", value_parser = arguments::from_1::<NonZeroU32>)]
    limit: NonZeroU32,

    /// JSON lines instead of a table: each result as `format=json` of the API has it
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    account: AccountArg,
}

impl ListCommand {
    /// Runs `refract results list`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let history = refract.prisms().with_versions(prism.id).await?;
        let search = self.filter.search(&history)?;
        let lens = refract.lenses().of(prism).await?;
        let values = lens
            .columns()
            .lens
            .iter()
            .map(|column| column.name.as_str());
        let values = values.collect::<Vec<_>>().join(BETWEEN);
        let newest_first = ResultOrder::NewestFirst;
        let results = refract.results();
        let mut results = results.of_search(lens, search, newest_first)?;
        let mut left = usize::try_from(self.limit.get()).unwrap_or(usize::MAX);
        let mut rows = Vec::new();
        while left > 0 {
            let page = results.next_page().await?;
            if page.is_empty() {
                break;
            }
            for result in page.iter().take(left) {
                if self.json {
                    print_json(result)?;
                } else {
                    rows.push(row(result));
                }
            }
            left = left.saturating_sub(page.len());
        }
        if self.json {
            return Ok(());
        }
        output::table(&["id", "created", "v", "status", "ref", &values], rows)
    }
}

fn print_json(result: &ReadableResult) -> anyhow::Result<()> {
    let mut line = Vec::new();
    render(Format::Json, &result.columns(), &result.view(), &mut line)?;
    line.push(b'\n');
    output::data(&line)
}

fn row(result: &ReadableResult) -> Vec<String> {
    let view = result.view();
    let values = match view.status.error() {
        Some(error) => error.to_owned(),
        None => values(result, result.columns().lens),
    };
    vec![
        view.id.to_string(),
        moment_text(view.created_at),
        view.version.to_string(),
        view.status.name().to_owned(),
        view.reference.unwrap_or_default().to_owned(),
        values,
    ]
}

fn values(result: &ReadableResult, lens: &[Column]) -> String {
    let view = result.view();
    let values: Vec<_> = view.values(lens).map(value_text).collect();
    values.join(BETWEEN)
}

/// A value in a few words; for an `all` column, the most probable outcome.
fn value_text(value: Value<'_>) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Outcome { key: _, label } => label.to_owned(),
        Value::YesNo(label) => label.label().to_owned(),
        Value::Probability(probability) => probability.to_string(),
        Value::Position(position) => position.to_string(),
        Value::Average(average) => average.to_string(),
        Value::All {
            question,
            probabilities,
        } => {
            let key = most_probable(probabilities);
            let label = key.and_then(|key| question.label_of(key));
            label.unwrap_or("–").to_owned()
        }
    }
}

/// A moment in UTC, to the minute.
fn moment_text(moment: DateTime<Utc>) -> String {
    moment.format("%Y-%m-%d %H:%M").to_string()
}

/// The arguments of `refract results show`.
#[derive(Args)]
pub struct ShowCommand {
    /// The result's id
    #[arg(required_unless_present = "reference", conflicts_with = "reference")]
    id: Option<String>,

    /// The newest result with this `ref` in place of an id; stderr names the others
    #[arg(long = "ref", value_name = "REF")]
    reference: Option<String>,

    /// The prism of the `ref`, by slug or id; any of the account when it is left out
    #[arg(
        long,
        value_name = "PRISM",
        requires = "reference",
        conflicts_with = "id"
    )]
    prism: Option<String>,

    /// json, raw, csv, tsv or jsonl as the API has it, or table [default: table on a terminal,
    /// else json]
    #[arg(long, value_name = "FORMAT", value_parser = ResultDisplay::parse, conflicts_with = "json")]
    format: Option<ResultDisplay>,

    /// One JSON object with everything that is stored: stored answers, texts, marks, and where the
    /// answers came from
    #[arg(long)]
    json: bool,

    /// Leaves out the texts and the context that were sent
    #[arg(long)]
    no_text: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl ShowCommand {
    /// Runs `refract results show`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, account) = self.account.open(database).await?;
        let id = match (&self.id, &self.reference) {
            (Some(id), _) => ResultId::parse(id).with_context(|| {
                let id = terminal::plain(id);
                format!("'{id}' is no result's id: `refract results list PRISM` shows ids")
            })?,
            (None, reference) => {
                let reference = reference.as_deref().unwrap_or_default();
                self.newest_with(&refract, account, reference).await?
            }
        };
        let details = refract.results().details(account, id).await;
        let details = details.map_err(|error| {
            if let CallError::ResultNotFound = error {
                anyhow!("{error} in the account '{}': {id}", self.account.name())
            } else {
                error.into()
            }
        })?;
        if self.json {
            return shown_result::print_details(&details, !self.no_text);
        }
        let display = self
            .format
            .unwrap_or_else(ResultDisplay::default_for_stdout);
        ensure!(
            !(self.no_text && display.has_texts()),
            "--no-text cannot be used with rows, which hold the texts: use --json, or --format table, \
             json or raw"
        );
        let facts = Facts::of(&details, !self.no_text);
        shown_result::print(&details.result, display, &facts)
    }

    /// The newest result with a `ref`. A failed result and its retry share one, so the newest is what
    /// mostly is wanted; the others are named on stderr.
    async fn newest_with(
        &self,
        refract: &Refract,
        account: AccountId,
        reference: &str,
    ) -> anyhow::Result<ResultId> {
        let read = Ref::parse(reference);
        let filter = ResultFilter {
            reference: Some(read.map_err(|errors| invalid_argument("--ref", &errors))?),
            ..ResultFilter::default()
        };
        let prisms = match &self.prism {
            Some(name) => vec![find_prism(refract, account, name).await?],
            None => refract.prisms().all(account).await?,
        };
        let (mut count, mut found) = (0, Vec::new());
        for prism in prisms {
            let lens = refract.lenses().of(prism).await?;
            let (filter, order) = (filter.clone(), ResultOrder::NewestFirst);
            let mut results = refract.results().of_prism(lens, filter, order);
            let page = results.next_page().await?;
            if !page.is_empty() {
                count += results.count().await?;
                found.extend(page.iter().take(NAMED + 1).map(ReadableResult::id));
            }
        }
        // ids follow time
        found.sort_unstable_by(|one, other| other.cmp(one));
        let mut found = found.into_iter();
        let newest = found.next().with_context(|| {
            let reference = terminal::plain(reference);
            format!(
                "no result has the ref '{reference}' in the account '{}'",
                self.account.name()
            )
        })?;
        if count > 1 {
            let others: Vec<_> = found.take(NAMED).map(|id| id.to_string()).collect();
            let more = if count > widened(others.len()) + 1 {
                ", …"
            } else {
                ""
            };
            output::say(&format!(
                "{} have this ref; shown is the newest. Others: {}{more}",
                counted(count, "result"),
                others.join(", ")
            ));
        }
        Ok(newest)
    }
}
