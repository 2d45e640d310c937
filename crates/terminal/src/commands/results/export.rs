//! `refract results export`: every saved result as a row under one header.

use std::io::Write;

use anyhow::Context as _;
use clap::Args;
use refract_service::marks::MarkedColumns;
use refract_service::people::AccountActor;
use refract_service::results::ResultOrder;

use super::super::context::AccountArg;
use super::super::output_args::OutputArgs;
use super::filter::FilterArgs;
use crate::settings::DatabaseArgs;
use crate::streams;
use crate::terminal::Progress;

/// The arguments of `refract results export`.
#[derive(Args)]
pub struct ExportCommand {
    /// Slug or id
    prism: String,

    #[command(flatten)]
    output: OutputArgs,

    /// Adds a column `<question>_marked` for each question, with what people marked
    #[arg(long)]
    marks: bool,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    account: AccountArg,
}

impl ExportCommand {
    /// Runs `refract results export`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let format = self.output.format()?;
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let actor = AccountActor::operator(prism.account);
        let lens = refract.lenses().of(prism).await?;
        let marked = if self.marks {
            MarkedColumns::of(&lens).context("--marks cannot be used")?
        } else {
            MarkedColumns::default()
        };
        let oldest_first = ResultOrder::OldestFirst;
        let results = refract.results();
        let mut results = results.of_prism(lens, self.filter.filter(), oldest_first);
        let is_beside = self.output.file().is_some() || !streams::stdout_is_terminal();
        let is_drawn = is_beside && streams::stderr_is_terminal();
        let progress = if is_drawn {
            // without a total if counting fails
            Some(Progress::begin("results", results.count().await.ok()))
        } else {
            None
        };
        let show = |done| {
            if let Some(progress) = &progress {
                progress.show(done, "");
            }
        };
        let export = async |out: &mut dyn Write| {
            let exporting = results.export(&actor, format, &marked, out, show);
            exporting.await
        };
        let exported = self.output.write(export).await;
        if let Some(progress) = &progress {
            progress.end();
        }
        self.output.say_written(exported?, "result");
        Ok(())
    }
}
