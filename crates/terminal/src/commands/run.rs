//! `refract run`: asks a prism about every row of a file.

mod target;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use refract_file_runs::{FileCheck, FileRun, OutputFormat, RowLayout, RunError, RunTally, Shard};

use self::target::RunTarget;
use super::context;
use super::file_run::{
    AskedPrism, FileRunArgs, check_watched, refused, report, stop, stopped, watched,
};
use super::output_args::{ByteOrderMarkArg, OutputArgs};
use super::signals::StopSignals;
use crate::commands::input_path::InputPath;
use crate::output;
use crate::output::file::part_of;
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
pub struct RunCommand {
    /// Slug or id
    prism: String,

    /// A CSV, TSV, JSON or Excel file with a column for each field; `ref` and `context` are
    /// used. `-` is stdin
    input: InputPath,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    mark: ByteOrderMarkArg,

    /// Puts all columns of the file before the answers, in place of `ref` and the fields
    #[arg(long)]
    keep_columns: bool,

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
    /// Runs `refract run`. A failed or refused row gives exit status 1.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let format = self.output.format()?;
        let layout = RowLayout {
            format,
            keep_columns: self.keep_columns,
            byte_order_mark: self.mark.of(OutputFormat::Rows(format))?,
        };
        let both = self.input.file().zip(self.output.file());
        anyhow::ensure!(
            !both.is_some_and(|(input, output)| target::is_over(input, output)),
            "--output would be written over the input: name another file"
        );
        let asked = self.asking.open(&self.prism, database).await?;
        let run = self.input.open(|source| {
            let order = self.asking.order(source, self.shard);
            FileRun::open(asked.prism.clone(), order)
        });
        let run = run.map_err(|refusal| refused(&self.input, refusal))?;
        let run = Arc::new(if self.asking.blank_rows {
            run.with_blank_rows()
        } else {
            run
        });
        let mut signals = StopSignals::watch()?;
        let estimator = asked.prism.estimator()?;
        let tally = Arc::new(RunTally::default());
        let checking = run.check(estimator, &tally);
        let check = check_watched(&self.input, checking, &tally, &mut signals).await?;
        output::say(&report::checked(&self.input, &run, &check));
        if self.dry_run {
            return Ok(report::end_of_check(&check));
        }
        context::say_if_for_trying_only(&asked.refract);
        self.ask(&run, &asked, &check, layout, signals).await
    }

    async fn ask(
        &self,
        run: &FileRun,
        asked: &AskedPrism,
        check: &FileCheck,
        layout: RowLayout,
        signals: StopSignals,
    ) -> anyhow::Result<ExitCode> {
        let tally = Arc::new(RunTally::default());
        let began = Instant::now();
        let progress = Progress::begin("rows", Some(check.rows));
        let output = self.output.file();
        let mut target = RunTarget::open(output, check.refused > 0, &progress)?;
        let settings = self.asking.settings(asked);
        let stopping = stop(signals, &progress);
        let files = target.files(layout);
        let asking = run.run(settings, check, &tally, files, stopping);
        let summary = watched(asking, &tally, &asked.prism, &progress).await;
        let kept = target.end(summary.stop.is_none());
        output::say(&report::ended(&summary, &tally.counts(), began.elapsed()));
        if let (None, Ok(Some(list))) = (&summary.stop, &kept) {
            output::say(&format!("refused rows: listed in {}", list.display()));
        }
        match (summary.stop, kept) {
            (Some(RunError::Output { error, .. }), _) if is_closed(&error) => Err(error.into()),
            (Some(stop), _) => {
                let part = output.map(part_of);
                let rows = part.map_or_else(String::new, |part| {
                    format!("; the rows so far are in {}", part.display())
                });
                let words = stopped(&self.input, &stop);
                Ok(output::fail_with(&format!("error: {words}{rows}")))
            }
            (None, Err(error)) => Err(error),
            (None, Ok(_)) => Ok(report::end_of_run(&tally.counts())),
        }
    }
}

fn is_closed(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
}
