//! `refract results show`: one result, with the facts that only operators see.

use anyhow::Context as _;
use clap::Args;
use refract_answering::ResultDetails;
use refract_domain::ids::ResultId;

use super::super::operator::{self, AccountArg};
use super::super::shown_result::{self, Facts, ResultDisplay};
use crate::settings::DatabaseArgs;

/// The arguments of `refract results show`.
#[derive(Args)]
pub(crate) struct ShowCommand {
    /// The result's id
    id: String,

    /// json, raw, csv, tsv or jsonl as the API has it, or table [default: table on a terminal,
    /// else json]
    #[arg(long, value_parser = ResultDisplay::parse)]
    format: Option<ResultDisplay>,

    #[command(flatten)]
    account: AccountArg,
}

impl ShowCommand {
    /// Runs `refract results show`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let database = operator::open(&database.settings()).await?;
        let account = self.account.find(&database).await?;
        let id = ResultId::parse(&self.id).context("ID cannot be used: Invalid uuid")?;
        let details = ResultDetails::find(&database, account, id).await?;
        let result = details.result;
        let mut facts = Facts::of(&result, &details.provenance, details.retried_as);
        facts.add_marks(&result, &details.marks);
        let display = self
            .format
            .unwrap_or_else(ResultDisplay::default_for_stdout);
        shown_result::print(&result, display, &facts)
    }
}
