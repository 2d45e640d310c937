//! `refract results export`: every saved result as a row under one header.

use std::path::Path;

use anyhow::{Context as _, bail};
use clap::Args;
use refract_lens_rendering::RowFormat;
use refract_service::marks::MarkedColumns;
use refract_service::people::Caller;
use refract_service::results::{ExportError, PrismResults, ResultOrder};

use super::super::operator::{self, AccountArg};
use super::super::output_args::OutputArgs;
use super::super::signals::StopSignals;
use super::filter::FilterArgs;
use crate::output;
use crate::output::file::OutputFile;
use crate::settings::DatabaseArgs;
use crate::terminal::{self, Progress, counted};

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
        let place = self.output.file();
        let (refract, account) = self.account.open(database).await?;
        let prism = operator::find_prism(&refract, account, &self.prism).await?;
        let lens = refract.lenses().of(prism).await?;
        let marked = if self.marks {
            MarkedColumns::of(&lens).context("--marks cannot be used")?
        } else {
            MarkedColumns::default()
        };
        let oldest_first = ResultOrder::OldestFirst;
        let results = refract.results();
        let results = results.of_prism(lens, self.filter.filter(), oldest_first);
        let is_drawn =
            terminal::stderr_is_terminal() && (place.is_some() || !terminal::stdout_is_terminal());
        let progress = if is_drawn {
            // when counting fails, the bar is shown without a total
            Some(Progress::begin("results", results.count().await.ok()))
        } else {
            None
        };
        let caller = Caller::operator(account);
        let progress_of = progress.as_ref();
        let exported = match place {
            None => to_stdout(results, &caller, format, &marked, progress_of).await,
            Some(place) => to_file(results, &caller, format, &marked, place, progress_of).await,
        };
        if let Some(progress) = &progress {
            progress.end();
        }
        let written = exported?;
        if let Some(place) = place {
            let (results, place) = (counted(written, "result"), place.display());
            output::say(&format!("{results} written to {place}."));
        }
        Ok(())
    }
}

async fn to_stdout(
    mut results: PrismResults,
    caller: &Caller,
    format: RowFormat,
    marked: &MarkedColumns,
    progress: Option<&Progress>,
) -> anyhow::Result<u64> {
    let show = |done| show(progress, done);
    match results
        .export(caller, format, marked, output::rows(), show)
        .await
    {
        Ok(written) => Ok(written),
        // the cause stays an `io::Error`, by which a closed pipe is recognised
        Err(ExportError::Write(error)) => Err(error).context(output::NOT_WRITTEN),
        Err(error @ ExportError::Read(_)) => Err(error.into()),
    }
}

/// Writes the rows to a file. The first SIGTERM or SIGINT stops the export and leaves an existing
/// file unchanged.
async fn to_file(
    mut results: PrismResults,
    caller: &Caller,
    format: RowFormat,
    marked: &MarkedColumns,
    place: &Path,
    progress: Option<&Progress>,
) -> anyhow::Result<u64> {
    let mut signals = StopSignals::watch()?;
    let mut file = OutputFile::create(place)?;
    let show = |done| show(progress, done);
    let exporting = results.export(caller, format, marked, &mut file, show);
    let exported = tokio::select! {
        exported = exporting => exported,
        () = signals.next() => bail!("stopped: {} is as it was", place.display()),
    };
    let written = match exported {
        Ok(written) => written,
        Err(ExportError::Write(error)) => {
            return Err(error).with_context(|| format!("cannot write {}", place.display()));
        }
        Err(error @ ExportError::Read(_)) => return Err(error.into()),
    };
    file.finish()?;
    Ok(written)
}

fn show(progress: Option<&Progress>, done: u64) {
    if let Some(progress) = progress {
        progress.show(done, "");
    }
}
