//! The arguments of commands that ask about every row of a file.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use anyhow::Context as _;
use clap::Args;
use refract_domain::prism::VersionNumber;
use refract_file_runs::{ColumnMapping, InputSource, RunOrder, RunSettings, Shard};
use refract_service::Refract;
use refract_service::model::ModelGateway;
use refract_service::runs::PinnedPrism;

use super::super::context::AccountArg;
use crate::arguments;
use crate::settings::{DatabaseArgs, ModelArgs};

/// Arguments that `refract run` and `refract check` have in common.
#[derive(Args)]
pub(crate) struct FileRunArgs {
    /// Calls to the model at once
    #[arg(long, value_name = "N", default_value = "32", value_parser = arguments::from_1::<NonZeroUsize>)]
    concurrency: NonZeroUsize,

    /// The version that is to answer [default: the latest when the run starts]
    #[arg(long, value_name = "N", value_parser = arguments::version)]
    version: Option<VersionNumber>,

    /// Reads a field, `ref` or `context` from a column of another name
    #[arg(long = "map", value_name = "COLUMN=FIELD", value_parser = mapping)]
    mappings: Vec<ColumnMapping>,

    /// A name for the run: the same file under another name is asked about anew
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    name: String,

    /// Asks also about rows whose fields are all empty, which are left out otherwise
    #[arg(long)]
    pub(crate) blank_rows: bool,

    /// Goes on however often the model fails [default: stops after 50 failures in a row plus --concurrency]
    #[arg(long)]
    pub(crate) keep_going: bool,

    #[command(flatten)]
    account: AccountArg,

    #[command(flatten)]
    model: ModelArgs,
}

/// A prism version, with the model that answers for it.
pub(crate) struct AskedPrism {
    pub(crate) refract: Refract,
    pub(crate) prism: PinnedPrism,
    /// The most rows in flight to the model.
    pub(crate) concurrency: NonZeroUsize,
}

impl FileRunArgs {
    /// Opens the database and finds the prism and the version.
    pub(crate) async fn open(
        &self,
        prism: &str,
        database: &DatabaseArgs,
    ) -> anyhow::Result<AskedPrism> {
        let settings = self.model.settings()?;
        let concurrency = settings.concurrency.min(self.concurrency.get());
        let gateway = ModelGateway::new(settings)?;
        let (refract, prism) = self.account.open_prism(database, prism).await?;
        let refract = refract.with_model(gateway.model());
        let (account, prism) = (prism.account, prism.selector());
        Ok(AskedPrism {
            prism: refract.runs().pin(account, &prism, self.version).await?,
            refract,
            concurrency: NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN),
        })
    }

    /// The file and the shard of its rows to ask about.
    pub(crate) fn order<'a>(&'a self, input: InputSource<'a>, shard: Shard) -> RunOrder<'a> {
        RunOrder {
            input,
            mappings: &self.mappings,
            shard,
            name: self.name.clone(),
        }
    }

    /// The limits of the run: concurrency and failures.
    pub(crate) fn settings(&self, asked: &AskedPrism) -> RunSettings {
        let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
        RunSettings {
            gives_up: !self.keep_going,
            ..RunSettings::new(asked.concurrency, threads)
        }
    }
}

fn mapping(text: &str) -> anyhow::Result<ColumnMapping> {
    // a column's name may contain `=`, a field key never does
    let (column, field) = text.rsplit_once('=').context("expected COLUMN=FIELD")?;
    Ok(ColumnMapping {
        column: column.trim().to_owned(),
        field: field.trim().to_owned(),
    })
}
