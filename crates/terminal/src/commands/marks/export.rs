//! `refract marks export`: every marked result as a row that can be imported again.

use std::path::Path;

use anyhow::{Context as _, bail};
use clap::Args;
use refract_domain::ids::PrismId;
use refract_lens_rendering::RowFormat;
use refract_service::Refract;
use refract_service::people::Caller;
use refract_service::results::ExportError;

use super::super::operator::{self, AccountArg};
use super::super::output_args::OutputArgs;
use super::super::signals::StopSignals;
use crate::output;
use crate::output::file::OutputFile;
use crate::settings::DatabaseArgs;
use crate::terminal::counted;

/// Arguments of `refract marks export`.
#[derive(Args)]
pub struct ExportMarksCommand {
    /// Slug or id
    prism: String,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    account: AccountArg,
}

impl ExportMarksCommand {
    /// Runs `refract marks export`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let format = self.output.format()?;
        let (refract, account) = self.account.open(database).await?;
        let prism = operator::find_prism(&refract, account, &self.prism)
            .await?
            .id;
        let caller = Caller::operator(account);
        let Some(place) = self.output.file() else {
            return to_stdout(&refract, &caller, prism, format).await;
        };
        let written = to_file(&refract, &caller, prism, format, place).await?;
        let (results, place) = (counted(written, "marked result"), place.display());
        output::say(&format!("{results} written to {place}."));
        Ok(())
    }
}

async fn to_stdout(
    refract: &Refract,
    caller: &Caller,
    prism: PrismId,
    format: RowFormat,
) -> anyhow::Result<()> {
    match refract
        .marks()
        .export(caller, prism, format, output::rows())
        .await
    {
        Ok(_) => Ok(()),
        // the cause stays an `io::Error`, by which a closed pipe is recognised
        Err(ExportError::Write(error)) => Err(error).context(output::NOT_WRITTEN),
        Err(error @ ExportError::Read(_)) => Err(error.into()),
    }
}

/// Writes the rows to a file. The first SIGTERM or SIGINT stops the export and leaves an existing
/// file unchanged.
async fn to_file(
    refract: &Refract,
    caller: &Caller,
    prism: PrismId,
    format: RowFormat,
    place: &Path,
) -> anyhow::Result<u64> {
    let mut signals = StopSignals::watch()?;
    let mut file = OutputFile::create(place)?;
    let exported = tokio::select! {
        exported = refract.marks().export(caller, prism, format, &mut file) => exported,
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
