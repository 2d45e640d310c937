//! `refract results show`: one result, with facts for operators only.

use anyhow::{Context as _, ensure};
use clap::Args;
use refract_domain::ids::ResultId;

use super::super::context::AccountArg;
use super::super::shown_result::{self, Facts, ResultDisplay};
use crate::settings::DatabaseArgs;

/// The arguments of `refract results show`.
#[derive(Args)]
pub struct ShowCommand {
    /// The result's id
    id: String,

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
        let id = ResultId::parse(&self.id).context("ID cannot be used: Invalid uuid")?;
        let details = refract.results().details(account, id).await?;
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
}
