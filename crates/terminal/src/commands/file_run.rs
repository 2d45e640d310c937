//! Shared by commands that ask about every row of a file: arguments, progress, stopping and
//! reports.

pub(crate) mod report;

use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use refract_domain::prism::VersionNumber;
use refract_file_runs::{
    ColumnMapping, FileCheckError, InputError, InputSource, OpenRunError, RunError, RunOrder,
    RunSettings, RunTally, Shard,
};
use refract_service::model::ModelGateway;
use refract_service::runs::PinnedPrism;
use refract_service::{CallError, Refract};

use self::report::going;
use super::context::AccountArg;
use super::signals::StopSignals;
use crate::commands::files::{InputPath, SheetArg};
use crate::settings::{DatabaseArgs, ModelArgs};
use crate::terminal::Progress;
use crate::{arguments, output};

/// The interval between two updates of the progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

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

    #[command(flatten)]
    pub(crate) sheet: SheetArg,

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
        let mut gateway = ModelGateway::new(settings)?;
        let (refract, prism) = self.account.open_prism(database, prism).await?;
        let refract = refract.with_gateway(&mut gateway).await?;
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

/// The error for a file that cannot be run.
pub(crate) fn refused(input: &InputPath, refusal: OpenRunError) -> anyhow::Error {
    match refusal {
        OpenRunError::Input(error) => input_error(input, &error),
        OpenRunError::Mapping(error) => anyhow::anyhow!("--map: {error}"),
    }
}

/// The error for a file that cannot be read.
fn input_error(input: &InputPath, error: &InputError) -> anyhow::Error {
    let advice = if matches!(error, InputError::Missing { .. }) {
        "; name another one with --map COLUMN=FIELD".to_owned()
    } else if let InputError::Twice(name) = error {
        format!(": name the second one with --map '{name} (2)=FIELD'")
    } else if matches!(error, InputError::AllBlank { .. }) {
        "; --blank-rows asks about them all the same".to_owned()
    } else {
        String::new()
    };
    input_refused(error, format!("{input}: {error}{advice}"))
}

/// An error of an input with its words.
pub(crate) fn input_refused(error: &InputError, words: String) -> anyhow::Error {
    if error.is_of_sheet() {
        output::WrongUsage(words).into()
    } else {
        anyhow::Error::msg(words)
    }
}

/// Why a run stopped and how to continue it.
pub(crate) fn stopped(input: &InputPath, stop: &RunError) -> String {
    let is_of_database = matches!(
        stop,
        RunError::Row {
            refusal: CallError::Internal(_),
            ..
        }
    );
    let saved = if is_of_database {
        "answers that could not be saved are asked for again"
    } else {
        "everything that was answered is saved"
    };
    format!("{input}: {stop}; {saved}: run the same command again to go on")
}

/// Waits for the check of a whole file, and shows its progress. A signal ends the program.
pub(crate) async fn check_watched<T>(
    input: &InputPath,
    checking: impl Future<Output = Result<T, FileCheckError>>,
    tally: &RunTally,
    signals: &mut StopSignals,
) -> anyhow::Result<T> {
    let progress = Progress::begin("rows checked", None);
    let showing = repeat(|| progress.show(tally.counts().checked, ""));
    let checked = tokio::select! {
        checked = checking => checked,
        () = signals.next() => {
            progress.end();
            output::say("error: stopped; nothing was asked");
            // nothing else stops the thread that reads the file
            std::process::exit(1);
        }
        never = showing => match never {},
    };
    progress.end();
    checked.map_err(|error| match error {
        FileCheckError::Input(error) => input_error(input, &error),
        FileCheckError::Lookup { .. } | FileCheckError::Lost => anyhow::anyhow!("{input}: {error}"),
    })
}

/// Waits for a run and shows its progress.
pub(crate) async fn watched<T>(
    run: impl Future<Output = T>,
    tally: &RunTally,
    prism: &PinnedPrism,
    progress: &Progress,
) -> T {
    let ended = tokio::select! {
        ended = run => ended,
        never = repeat(|| {
            let counts = tally.counts();
            let words = going(&counts) + &pace(prism.learned_per_minute());
            progress.show(counts.done(), &words);
        }) => match never {},
    };
    progress.end();
    ended
}

/// What the model's server is seen to take, in words after a progress line; empty if it refuses
/// nothing.
pub(crate) fn pace(per_minute: Option<u64>) -> String {
    match per_minute {
        None => String::new(),
        Some(per_minute @ 0..120) => {
            format!(", the model server allows {} a minute", per_minute.max(1))
        }
        Some(per_minute) => format!(", the model server allows {} a second", per_minute / 60),
    }
}

/// Waits for the first signal. A second signal ends the program.
pub(crate) async fn stop(mut signals: StopSignals, progress: &Progress) {
    signals.next().await;
    let words = "Stopping: calls under way are finished and saved. Once more stops at once.";
    progress.beside(|| output::say(words));
    tokio::spawn(async move {
        signals.next().await;
        output::say("error: stopped at once; what was saved is saved");
        std::process::exit(1);
    });
}

async fn repeat(show: impl Fn()) -> std::convert::Infallible {
    loop {
        tokio::time::sleep(PROGRESS_INTERVAL).await;
        show();
    }
}
