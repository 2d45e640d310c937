//! `refract events`: the audit log of an account.

use std::num::NonZeroUsize;

use chrono::{DateTime, Utc};
use clap::Args;
use refract_domain::event::EventDetail;
use refract_identity::events::{EventFilter, ListedEvent};
use refract_lens_rendering::{EventRowWriter, RowFormat};

use super::context::AccountArg;
use super::selection;
use crate::output;
use crate::settings::DatabaseArgs;

/// The number of events in a table by default.
const IN_TABLE: usize = 100;

/// The arguments of `refract events`.
#[derive(Args)]
pub struct EventsCommand {
    /// Only events of this time or later: a date such as 2026-05-04, which begins at midnight UTC, or
    /// a time such as 2026-05-04T09:00:00Z
    #[arg(long, value_name = "T", value_parser = selection::moment)]
    since: Option<DateTime<Utc>>,

    /// Only events by a person (their address), a key (its label or id), `operator` or `node`
    #[arg(long, value_name = "WHO")]
    by: Option<String>,

    /// How many at most, the newest [default: 100 in a table, all as JSON lines]
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,

    /// JSON lines instead of a table
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl EventsCommand {
    /// Runs `refract events`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, account) = self.account.open(database).await?;
        let actors = match &self.by {
            None => None,
            Some(who) => Some(refract.events().find_actors(account, who).await?),
        };
        let filter = EventFilter {
            actors,
            since: self.since,
            ..EventFilter::default()
        };
        let mut events = refract.events().list(account, filter);
        let limit = self.limit.map(NonZeroUsize::get);
        let mut left = limit.unwrap_or(if self.json { usize::MAX } else { IN_TABLE });
        let mut rows = Vec::new();
        while left > 0 {
            let mut page = events.next_page().await?;
            if page.is_empty() {
                break;
            }
            page.truncate(left);
            left -= page.len();
            if self.json {
                print_lines(&page)?;
            } else {
                rows.extend(page.iter().map(row));
            }
        }
        if self.json {
            return Ok(());
        }
        let is_cut = left == 0 && limit.is_none() && !events.next_page().await?.is_empty();
        let headers = [
            "at", "by", "action", "target", "from", "to", "note", "request",
        ];
        output::table(&headers, rows)?;
        if is_cut {
            output::say(&format!(
                "These are the newest {IN_TABLE}: --limit shows more, --json all."
            ));
        }
        Ok(())
    }
}

fn print_lines(events: &[ListedEvent]) -> anyhow::Result<()> {
    let mut rows = EventRowWriter::new(RowFormat::Jsonl, Vec::new());
    for event in events {
        rows.write_row(event.row())?;
    }
    output::data(&rows.finish()?)
}

fn row(listed: &ListedEvent) -> Vec<String> {
    let ListedEvent {
        event, by, target, ..
    } = listed;
    let detail = |detail: &Option<EventDetail>| {
        let detail = detail.as_ref().map(ToString::to_string);
        detail.unwrap_or_default()
    };
    let request = event.stamp.request.as_ref();
    vec![
        selection::to_the_second(event.stamp.at),
        by.reference.clone(),
        event.action.name().to_owned(),
        format!("{} {}", event.target.kind().name(), target.reference),
        detail(&event.from),
        detail(&event.to),
        detail(&event.stamp.note),
        request.map_or_else(String::new, |request| request.as_str().to_owned()),
    ]
}
