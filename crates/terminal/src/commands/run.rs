//! `refract run`: asks a prism about every row of a file. Rows go to stdout or to a file, which is
//! replaced only by a complete one; refused rows go to a list.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use indicatif::HumanCount;
use refract_file_runs::{
    FileCheck, FileRun, OutputFormat, RowLayout, RunError, RunFiles, RunTally, Shard, WORKBOOK_ROWS,
};

use super::file_run::{
    AskedPrism, FileRunArgs, check_watched, refused, report, stop, stopped, watched,
};
use super::files::{ExcelArgs, OutputArgs, say_cut_texts};
use super::signals::StopSignals;
use super::{context, output_files};
use crate::commands::files::InputPath;
use crate::output::file::{OutputFile, part_of, refused_of};
use crate::settings::DatabaseArgs;
use crate::terminal::{EscapingWriter, Progress};
use crate::{output, streams};

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

    /// A CSV, TSV, JSON, Excel or Parquet file with a column for each field; `ref` and `context`
    /// are used. `-` is stdin
    input: InputPath,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    excel: ExcelArgs,

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
            style: self.excel.style(format)?,
        };
        let outputs = [("--output", self.output.file())];
        output_files::check(&outputs, &[Some(&self.input)], database)?;
        let asked = self.asking.open(&self.prism, database).await?;
        let run = self.input.open(&self.asking.sheet, |source| {
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
        output::say(&report::checked(
            &self.input,
            &run,
            &check,
            asked.refract.token_price(),
        ));
        anyhow::ensure!(
            format != OutputFormat::Workbook || check.rows <= WORKBOOK_ROWS,
            "a workbook has at most {} rows below its header: write csv, tsv, jsonl or parquet",
            HumanCount(WORKBOOK_ROWS)
        );
        if self.dry_run {
            return report::end_of_check(&check);
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
        asked.refract.keep_server_facts().await;
        let kept = target.end(summary.stop.is_none());
        output::say(&report::ended(
            &summary,
            &tally.counts(),
            began.elapsed(),
            asked.refract.token_price(),
        ));
        say_cut_texts(summary.cut_texts);
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

fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// The destinations of a run's rows and refused rows.
struct RunTarget<'a> {
    /// The file for the rows, written as `FILE.part`.
    file: Option<OutputFile>,
    /// Stdout, for the rows if there is no file. On a terminal it is escaped line by line and
    /// shared with the progress bar.
    stdout: Box<dyn Write + 'a>,
    /// The list of refused rows, if the output is a file.
    refused: Option<RefusedList>,
}

/// The list of refused rows, in the output's folder.
struct RefusedList {
    path: PathBuf,
    /// The file of the list; `None` if no row is refused.
    file: Option<OutputFile>,
}

impl<'a> RunTarget<'a> {
    /// Opens a file, or stdout if there is no path.
    pub(crate) fn open(
        path: Option<&Path>,
        has_refused: bool,
        progress: &'a Progress,
    ) -> anyhow::Result<Self> {
        let stdout: Box<dyn Write> = if streams::stdout_is_terminal() {
            Box::new(EscapingWriter::new(BesideBar(progress)))
        } else {
            Box::new(BufWriter::new(streams::stdout()))
        };
        let file = path.map(OutputFile::create_part).transpose()?;
        // a device has no list
        let path = path.filter(|path| path.is_file() || !path.exists());
        let refused = path.map(|path| RefusedList::open(refused_of(path), has_refused));
        Ok(Self {
            file,
            stdout,
            refused: refused.transpose()?,
        })
    }

    /// The writers for the run.
    pub(crate) fn files(&mut self, layout: RowLayout) -> RunFiles<'_> {
        let refused = self.refused.as_mut().and_then(|list| list.file.as_mut());
        RunFiles {
            layout,
            rows: out(self.file.as_mut(), &mut self.stdout),
            refused: refused.map(|file| -> &mut dyn Write { file }),
        }
    }

    /// Flushes the rows, and moves complete files to their paths. Returns the path of the list of
    /// refused rows, if there is one.
    pub(crate) fn end(mut self, is_complete: bool) -> anyhow::Result<Option<PathBuf>> {
        let flushed = out(self.file.as_mut(), &mut self.stdout).flush();
        flushed.context("cannot write the output")?;
        if !is_complete {
            return Ok(None);
        }
        let list = match self.refused {
            Some(list) => list.end()?,
            None => None,
        };
        if let Some(file) = self.file {
            file.finish()?;
        }
        Ok(list)
    }
}

/// The destination of the rows: the file, or stdout if there is none.
fn out<'t>(file: Option<&'t mut OutputFile>, stdout: &'t mut dyn Write) -> &'t mut dyn Write {
    match file {
        Some(file) => file,
        None => stdout,
    }
}

impl RefusedList {
    fn open(path: PathBuf, has_refused: bool) -> anyhow::Result<Self> {
        let file = has_refused.then(|| OutputFile::create(&path)).transpose()?;
        Ok(Self { path, file })
    }

    /// Moves the list to its path and returns that, or removes the list of an earlier run.
    fn end(self) -> anyhow::Result<Option<PathBuf>> {
        if let Some(file) = self.file {
            file.finish()?;
            return Ok(Some(self.path));
        }
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let path = self.path.display();
                Err(error)
                    .with_context(|| format!("cannot remove {path}, which lists refused rows"))
            }
            Ok(()) | Err(_) => Ok(None),
        }
    }
}

/// Writes to stdout and hides the progress bar for each write.
struct BesideBar<'a>(&'a Progress);

impl Write for BesideBar<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.beside(|| streams::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        streams::stdout().flush()
    }
}
