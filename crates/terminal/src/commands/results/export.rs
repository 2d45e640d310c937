//! `refract results export`: every saved result as a row under one header.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use refract_domain::lens::Value;
use refract_domain::result::view::ResultView;
use refract_file_runs::{OutputFormat, ParquetRows, WorkbookRows};
use refract_service::marks::MarkedColumns;
use refract_service::people::AccountActor;
use refract_service::results::{ExportError, PrismResults, ResultOrder};

use super::super::context::AccountArg;
use crate::commands::files::{ByteOrderMarkArg, OutputArgs, say_cut_texts};
use crate::commands::selection::FilterArgs;
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

    #[command(flatten)]
    mark: ByteOrderMarkArg,

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
        let format = self.output.any_format()?;
        let mark: &[u8] = if self.mark.of(format)? {
            b"\xef\xbb\xbf"
        } else {
            b""
        };
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
            out.write_all(mark)?;
            match format {
                OutputFormat::Rows(format) => {
                    let exporting = results.export(&actor, format, &marked, out, show);
                    exporting.await
                }
                OutputFormat::Parquet => {
                    export_parquet(&mut results, &actor, &marked, out, show).await
                }
                OutputFormat::Workbook => {
                    export_workbook(&mut results, &actor, &marked, out, show).await
                }
            }
        };
        let exported = self.output.write(export).await;
        if let Some(progress) = &progress {
            progress.end();
        }
        self.output.say_written(exported?, "result");
        Ok(())
    }
}

/// Writes results as Parquet, a row group at a time, and returns the number of results.
async fn export_parquet(
    results: &mut PrismResults,
    actor: &AccountActor,
    marked: &MarkedColumns,
    out: &mut dyn Write,
    show: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let lens = Arc::clone(results.lens());
    let mut rows = ParquetRows::new(lens.columns(), None, marked.names())?;
    let format = OutputFormat::Parquet.name();
    let write = |view: &ResultView<'_>, marks: Vec<Value<'_>>| {
        let ready = rows.write(&[], view, marks)?;
        out.write_all(&ready)
    };
    let written = results
        .export_each(actor, format, marked, write, show)
        .await?;
    out.write_all(&rows.finish()?)?;
    Ok(written)
}

/// Writes results as a workbook and returns the number of results.
async fn export_workbook(
    results: &mut PrismResults,
    actor: &AccountActor,
    marked: &MarkedColumns,
    out: &mut dyn Write,
    show: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let lens = Arc::clone(results.lens());
    let mut rows = WorkbookRows::new(lens.columns(), None, marked.names())?;
    let format = OutputFormat::Workbook.name();
    let write = |view: &ResultView<'_>, marks: Vec<Value<'_>>| {
        let ready = rows.write(&[], view, marks)?;
        out.write_all(&ready)
    };
    let written = results
        .export_each(actor, format, marked, write, show)
        .await?;
    say_cut_texts(rows.cut_texts());
    out.write_all(&rows.finish()?)?;
    Ok(written)
}
