//! `refract run`: asks a prism about every row of a file.

mod target;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use refract_file_runs::{FileCheck, FileRun, RunSettings, RunStop, RunTally, Shard};
use refract_lens_rendering::RowFormat;

use self::target::RunTarget;
use super::file_run::{FileRunArgs, check_watched, refused, report, stop, stopped, watched};
use super::operator;
use super::signals::StopSignals;
use crate::output;
use crate::output_file::part_of;
use crate::settings::DatabaseArgs;
use crate::terminal::Progress;

const EXAMPLES: &str = "\
Examples:
  refract run support-triage messages.csv --output answers.csv
  refract run support-triage tickets.jsonl --map body=text --map id=ref --dry-run
  refract run support-triage huge.csv --shard 1/4 --concurrency 128 --output part-1.csv";

/// Arguments of `refract run`.
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

    /// Only every N-th row, beginning with the I-th: one of N machines on one file
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: Shard,

    /// Reads and checks the file, estimates the cost and stops
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    asking: FileRunArgs,
}

impl RunCommand {
    /// Runs `refract run`. The exit status is 1 when rows failed or were refused.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let output = self.output.as_deref();
        anyhow::ensure!(
            !output.is_some_and(|output| target::is_over(&self.input, output)),
            "--output would be written over the input: name another file"
        );
        let asked = self.asking.open(&self.prism, database).await?;
        let order = self.asking.order(&self.input, self.shard);
        let run = FileRun::open(asked.prism.clone(), order);
        let run = Arc::new(run.map_err(|refusal| refused(&self.input, refusal))?);
        let mut signals = StopSignals::watch()?;
        let estimator = asked.gateway.estimator(run.version());
        let reading = Arc::clone(&run);
        let checking = move |tally: &RunTally| reading.check(&estimator, tally);
        let check = check_watched(&self.input, checking, &mut signals).await?;
        output::say(&report::checked(&self.input, &run, &check));
        if self.dry_run {
            return Ok(report::end_of_check(&check));
        }
        operator::say_if_for_trying_only(&asked.gateway);
        let settings = self.asking.settings(&asked);
        self.ask(&run, settings, &check, signals).await
    }

    async fn ask(
        &self,
        run: &FileRun,
        settings: RunSettings<'_>,
        check: &FileCheck,
        signals: StopSignals,
    ) -> anyhow::Result<ExitCode> {
        let tally = Arc::new(RunTally::default());
        let began = Instant::now();
        let progress = Progress::begin("rows", Some(check.rows));
        let mut target = RunTarget::open(self.output.as_deref(), &progress)?;
        let stopping = stop(signals, &progress);
        let format = self.output_format();
        let asking = run.run(settings, check, &tally, format, &mut target, stopping);
        let summary = watched(asking, &tally, &progress).await;
        let kept = target.end(summary.stop.is_none());
        output::say(&report::ended(&summary, &tally.counts(), began.elapsed()));
        match (summary.stop, kept) {
            (Some(RunStop::Output { error, .. }), _) if is_closed(&error) => Err(error.into()),
            (Some(stop), _) => {
                let part = self.output.as_deref().map(part_of);
                let rows = part.map_or_else(String::new, |part| {
                    format!("; the rows so far are in {}", part.display())
                });
                let words = stopped(&self.input, &stop);
                Ok(output::fail_with(&format!("error: {words}{rows}")))
            }
            (None, Err(error)) => Err(error),
            (None, Ok(())) => Ok(report::end_of_run(&tally.counts())),
        }
    }

    fn output_format(&self) -> RowFormat {
        let extension = self.output.as_deref().and_then(Path::extension);
        let by_name = extension.and_then(|end| RowFormat::parse(end.to_str()?));
        self.format.or(by_name).unwrap_or(RowFormat::Csv)
    }
}

fn is_closed(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
}
