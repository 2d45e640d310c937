//! `refract run`: asks a prism about every row of a file.

mod report;
mod target;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use refract_answering::file_run::{
    Check, FileRun, InputFault, Mapping, RunOrder, RunRefusal, RunSettings, Shard, Stop, Summary,
    Tally,
};
use refract_domain::prism::VersionNumber;
use refract_lens_rendering::RowFormat;
use refract_model_gateway::ModelGateway;

use self::report::{checked, ended, going};
use self::target::Target;
use super::operator::{self, AccountArg};
use super::signals::StopSignals;
use crate::output;
use crate::settings::{DatabaseArgs, ModelArgs};
use crate::terminal::Progress;

/// Between two looks at how far it is.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

const EXAMPLES: &str = "\
Examples:
  refract run support-triage messages.csv --output answers.csv
  refract run support-triage tickets.jsonl --map body=text --map id=ref --dry-run
  refract run support-triage huge.csv --shard 1/4 --concurrency 128 --output part-1.csv";

/// A file for a prism.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunCommand {
    /// Slug or id
    prism: String,

    /// A CSV, TSV or JSON Lines file with a column for each field; `ref` and `context` are used
    input: PathBuf,

    /// Where the rows go [default: stdout]; until all are there they stand in FILE.part
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// csv, tsv or jsonl [default: as the output's name ends, else csv]
    #[arg(long, value_parser = operator::row_format)]
    format: Option<RowFormat>,

    /// Calls to the model at once
    #[arg(long, value_name = "N", default_value = "32")]
    concurrency: NonZeroUsize,

    /// The version that is to answer [default: the latest when the run starts]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    version: Option<i32>,

    /// Reads a field, `ref` or `context` from a column of another name
    #[arg(long = "map", value_name = "COLUMN=FIELD", value_parser = mapping)]
    mappings: Vec<Mapping>,

    /// Only every N-th row, beginning with the I-th: one of N machines on one file
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: Shard,

    /// Reads and checks the file, estimates the cost and stops
    #[arg(long)]
    dry_run: bool,

    /// A name for the run: the same file under another name is asked about anew
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    name: String,

    /// Goes on however often the model fails [default: stops after 50 failures in a row]
    #[arg(long)]
    keep_going: bool,

    #[command(flatten)]
    account: AccountArg,

    #[command(flatten)]
    model: ModelArgs,
}

impl RunCommand {
    /// Carries it out; failed and refused rows end with status 1, after the summary.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let settings = self.model.settings()?;
        let most_requests = settings.concurrency;
        let gateway = ModelGateway::new(settings)?;
        let output = self.output.as_deref();
        anyhow::ensure!(
            !output.is_some_and(|output| target::is_over(&self.input, output)),
            "--output would be written over the input: name another file"
        );
        let database = operator::open(&database.settings()).await?;
        let account = self.account.find(&database).await?;
        let selector = operator::find_prism(&database, account, &self.prism).await?;
        let order = RunOrder {
            account,
            prism: &selector,
            version: self.version.and_then(VersionNumber::new),
            input: &self.input,
            mappings: &self.mappings,
            shard: self.shard,
            name: self.name.clone(),
        };
        let run = FileRun::open(&database, order).await;
        let run = Arc::new(run.map_err(|refusal| self.refused(refusal))?);
        let mut signals = StopSignals::watch()?;
        let check = self.check(&run, &gateway, &mut signals).await?;
        output::say(&checked(&self.input, &run, &check));
        if self.dry_run {
            return Ok(report::end_of_check(&check));
        }
        if gateway.is_for_trying_only() {
            output::say("The built-in scorer answers: it is for trying things only.");
        }
        let concurrency = most_requests.min(self.concurrency.get());
        let settings = RunSettings {
            gateway: &gateway,
            concurrency: NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN),
            threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
            gives_up: !self.keep_going,
            format: self.output_format(),
        };
        self.ask(&run, settings, &check, signals).await
    }

    /// Reads the whole file while somebody watches.
    async fn check(
        &self,
        run: &Arc<FileRun>,
        gateway: &ModelGateway,
        signals: &mut StopSignals,
    ) -> anyhow::Result<Check> {
        let tally = Arc::new(Tally::default());
        let estimator = gateway.estimator(run.version());
        let (counted, reading) = (Arc::clone(&tally), Arc::clone(run));
        let checking = tokio::task::spawn_blocking(move || reading.check(&estimator, &counted));
        let progress = Progress::begin("rows checked", None);
        let looking = look_regularly(|| progress.show(tally.counts().read, ""));
        let checked = tokio::select! {
            checked = checking => checked.context("the check of the file broke off")?,
            () = signals.next() => {
                progress.end();
                output::say("error: stopped; nothing was asked");
                // the thread that reads cannot be stopped otherwise
                std::process::exit(1);
            }
            never = looking => match never {},
        };
        progress.end();
        checked.map_err(|fault| self.faulty(&fault))
    }

    async fn ask(
        &self,
        run: &FileRun,
        settings: RunSettings<'_>,
        check: &Check,
        signals: StopSignals,
    ) -> anyhow::Result<ExitCode> {
        let tally = Arc::new(Tally::default());
        let began = Instant::now();
        let progress = Progress::begin("rows", Some(check.rows));
        let mut target = Target::open(self.output.as_deref(), &progress)?;
        let summary = tokio::select! {
            summary = run.run(settings, check, &tally, &mut target, stop(signals, &progress)) => summary,
            never = look_regularly(|| {
                let counts = tally.counts();
                progress.show(counts.done(), &going(&counts));
            }) => match never {},
        };
        progress.end();
        let Summary { ref stop, .. } = summary;
        let kept = target.end(stop.is_none());
        output::say(&ended(&summary, &tally.counts(), began.elapsed()));
        match (summary.stop, kept) {
            (Some(Stop::Output { error, .. }), _) if is_closed(&error) => Err(error.into()),
            (Some(stop), _) => Ok(self.stopped(&stop)),
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Ok(report::end_of_run(&tally.counts())),
        }
    }

    /// How to go on after a stop.
    fn stopped(&self, stop: &Stop) -> ExitCode {
        let file = self.input.display();
        let part = self.output.as_deref().map(target::part_of);
        let rows = part.map_or_else(String::new, |part| {
            format!("; the rows so far are in {}", part.display())
        });
        output::fail_with(&format!(
            "error: {file}: {stop}; everything that was answered is saved: run the same command \
             again to go on{rows}"
        ))
    }

    fn refused(&self, refusal: RunRefusal) -> anyhow::Error {
        match refusal {
            RunRefusal::Input(fault) => self.faulty(&fault),
            RunRefusal::Call(_) | RunRefusal::Mapping(_) | RunRefusal::Prism(_) => refusal.into(),
        }
    }

    fn faulty(&self, fault: &InputFault) -> anyhow::Error {
        anyhow::anyhow!("{}: {fault}", self.input.display())
    }

    fn output_format(&self) -> RowFormat {
        let extension = self.output.as_deref().and_then(Path::extension);
        let by_name = extension.and_then(|end| RowFormat::parse(end.to_str()?));
        self.format.or(by_name).unwrap_or(RowFormat::Csv)
    }
}

/// Ends at the first signal; the second one ends the program.
async fn stop(mut signals: StopSignals, progress: &Progress) {
    signals.next().await;
    let words = "Stopping: calls under way are finished and saved. Once more stops at once.";
    progress.beside(|| output::say(words));
    tokio::spawn(async move {
        signals.next().await;
        output::say("error: stopped at once; what was saved is saved");
        std::process::exit(1);
    });
}

async fn look_regularly(look: impl Fn()) -> std::convert::Infallible {
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        look();
    }
}

fn is_closed(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
}

fn mapping(text: &str) -> anyhow::Result<Mapping> {
    // a column's name may hold the sign, a field's never does
    let (column, field) = text.rsplit_once('=').context("expected COLUMN=FIELD")?;
    Ok(Mapping {
        column: column.trim().to_owned(),
        field: field.trim().to_owned(),
    })
}
