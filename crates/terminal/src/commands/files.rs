//! The files of commands: those that are read, or standard input, and the destination and format of
//! rows that are written.

use std::ffi::OsString;
use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::{Args, ValueEnum};
use refract_file_runs::{InputSource, OutputFormat, SheetChoice, binary_kind, format_of_name};
use refract_lens_rendering::{RowFormat, TableStyle};
use refract_service::results::ExportError;

use super::signals::StopSignals;
use crate::output::file::OutputFile;
use crate::terminal::counted;
use crate::{output, streams};

/// The argument for standard input.
const STDIN: &str = "-";
/// The number of bytes read to recognise a binary file.
const START: usize = 8 * 1024;

/// A file that a command reads; `-` is standard input.
#[derive(Clone, Debug)]
pub struct InputPath(PathBuf);

impl From<OsString> for InputPath {
    fn from(path: OsString) -> Self {
        Self(path.into())
    }
}

impl InputPath {
    /// Standard input.
    pub(crate) fn stdin() -> Self {
        Self(PathBuf::from(STDIN))
    }

    /// The file; `None` for standard input.
    pub(crate) fn file(&self) -> Option<&Path> {
        (self.0 != Path::new(STDIN)).then_some(self.0.as_path())
    }

    /// Reads the whole input. The error for a binary file names the file.
    pub(crate) fn read(&self) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = match self.file() {
            Some(file) => std::fs::read(file).map(|read| bytes = read),
            None => stdin().read_to_end(&mut bytes).map(|_| ()),
        };
        read.with_context(|| format!("cannot read {self}"))?;
        let start = bytes.get(..START).unwrap_or(&bytes);
        match binary_kind(start) {
            Some(kind) => Err(anyhow!("{self}: {kind}")),
            None => Ok(bytes),
        }
    }

    /// Opens the input as rows.
    pub(crate) fn open<T>(&self, sheet: &SheetArg, open: impl FnOnce(InputSource<'_>) -> T) -> T {
        let source = match self.file() {
            Some(file) => InputSource::Path(file),
            None => InputSource::Stream(stdin()),
        };
        open(source.with_choice(sheet.choice()))
    }
}

impl fmt::Display for InputPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file() {
            Some(file) => file.display().fmt(f),
            None => f.write_str("standard input"),
        }
    }
}

/// Standard input. At a terminal, tells the person to type the input.
fn stdin() -> Box<dyn Read> {
    if streams::stdin_is_terminal() {
        output::say("Write the text, then end it with Ctrl-D on a line of its own:");
    }
    streams::stdin()
}

/// The argument of commands that read a file of rows.
#[derive(Args)]
pub struct SheetArg {
    /// The sheet of a workbook to read, which may be hidden [default: the first visible one]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,

    /// Whether rows of a sheet that are hidden or filtered out are read too
    #[arg(long, value_name = "READ_OR_SKIP", default_value = "read")]
    hidden_rows: HiddenRows,
}

/// What becomes of rows that a spreadsheet does not show.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum HiddenRows {
    /// They are read like others.
    #[default]
    Read,
    /// They are left out.
    Skip,
}

impl SheetArg {
    fn choice(&self) -> SheetChoice {
        SheetChoice {
            sheet: self.sheet.clone(),
            skips_hidden_rows: self.hidden_rows == HiddenRows::Skip,
        }
    }
}

/// The arguments of every command that writes rows.
#[derive(Args)]
pub(super) struct OutputArgs {
    /// A file for the rows, which takes its place when it is complete [default: stdout, as for `-`]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// csv, tsv, jsonl or xlsx, and parquet for exports of results [default: as the name of --output
    /// ends, else csv]
    #[arg(long, value_name = "FORMAT", value_parser = output_format)]
    format: Option<OutputFormat>,

    /// As --format jsonl
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// The arguments of commands whose rows people open in Excel.
#[derive(Args)]
pub(super) struct ExcelArgs {
    /// Begins csv and tsv with a byte order mark, so that Excel shows all letters
    #[arg(long)]
    bom: bool,

    /// Writes csv for an Excel in German, French and other languages with decimal commas: as --bom,
    /// with semicolons between cells and commas in numbers
    #[arg(long, conflicts_with = "bom")]
    decimal_commas: bool,
}

impl ExcelArgs {
    /// The style of rows of this format.
    pub(super) fn style(&self, format: OutputFormat) -> anyhow::Result<TableStyle> {
        let is_csv = format == OutputFormat::Rows(RowFormat::Csv);
        let is_table = is_csv || format == OutputFormat::Rows(RowFormat::Tsv);
        for (is_given, is_for, name, formats) in [
            (self.bom, is_table, "--bom", "csv and tsv"),
            (self.decimal_commas, is_csv, "--decimal-commas", "csv"),
        ] {
            let format = format.name();
            ensure!(
                !is_given || is_for,
                "{name} is for {formats}, not for {format}"
            );
        }
        Ok(match (self.bom, self.decimal_commas) {
            (_, true) => TableStyle::ExcelWithCommas,
            (true, false) => TableStyle::Excel,
            (false, false) => TableStyle::Plain,
        })
    }
}

impl OutputArgs {
    /// The file; `None` for stdout.
    pub(super) fn file(&self) -> Option<&Path> {
        let file = self.output.as_deref();
        file.filter(|file| *file != Path::new("-"))
    }

    /// The format of rows of text or of a workbook.
    pub(super) fn format(&self) -> anyhow::Result<OutputFormat> {
        let format = self.any_format()?;
        ensure!(
            format != OutputFormat::Parquet,
            "only `refract results export` writes parquet: name csv, tsv, jsonl or xlsx with --format"
        );
        Ok(format)
    }

    /// The format: as given, or by the file's extension. A terminal gets text only.
    pub(super) fn any_format(&self) -> anyhow::Result<OutputFormat> {
        let jsonl = self.json.then_some(OutputFormat::Rows(RowFormat::Jsonl));
        let named = match (self.format.or(jsonl), self.file()) {
            (Some(format), _) => Some(format),
            (None, None) => None,
            (None, Some(file)) => {
                format_of_name(file).with_context(|| format!("--output {}", file.display()))?
            }
        };
        let format = named.unwrap_or(OutputFormat::Rows(RowFormat::Csv));
        ensure!(
            format.is_text() || self.file().is_some() || !streams::stdout_is_terminal(),
            "{} is no text: name a file with --output",
            format.name()
        );
        Ok(format)
    }

    /// Runs `export` with stdout or the file as target, and returns the number of rows. The first
    /// SIGTERM or SIGINT stops an export to a file and leaves an existing file unchanged.
    pub(super) async fn write(
        &self,
        export: impl AsyncFnOnce(&mut dyn Write) -> Result<u64, ExportError>,
    ) -> anyhow::Result<u64> {
        let Some(place) = self.file() else {
            let exported = export(&mut output::rows()).await;
            return written(exported, || output::NOT_WRITTEN.to_owned());
        };
        let mut signals = StopSignals::watch()?;
        let mut file = OutputFile::create(place)?;
        let exported = tokio::select! {
            exported = export(&mut file) => exported,
            () = signals.next() => bail!("stopped: {} is as it was", place.display()),
        };
        let rows = written(exported, || format!("cannot write {}", place.display()))?;
        file.finish()?;
        Ok(rows)
    }

    /// Prints how many rows were written to a file, with `noun` as the name of a row. Prints
    /// nothing for stdout.
    pub(super) fn say_written(&self, rows: u64, noun: &str) {
        if let Some(place) = self.file() {
            let (rows, place) = (counted(rows, noun), place.display());
            output::say(&format!("{rows} written to {place}."));
        }
    }
}

/// The number of exported rows. A write error keeps its `io::Error` as cause, so that a closed pipe
/// is recognised.
fn written(
    exported: Result<u64, ExportError>,
    not_written: impl FnOnce() -> String,
) -> anyhow::Result<u64> {
    match exported {
        Ok(rows) => Ok(rows),
        Err(ExportError::Write(error)) => Err(error).with_context(not_written),
        Err(error @ ExportError::Read(_)) => Err(error.into()),
    }
}

/// Says that texts were too long for the cells of a workbook.
pub(super) fn say_cut_texts(cut: u64) {
    if cut > 0 {
        output::say(&format!(
            "{} longer than the 32,767 characters of a workbook's cell and cut off: the column after the \
             last one says where. csv, tsv, jsonl and parquet have them whole.",
            if cut == 1 {
                "1 text is".to_owned()
            } else {
                format!("{} are", counted(cut, "text"))
            }
        ));
    }
}

fn output_format(name: &str) -> anyhow::Result<OutputFormat> {
    OutputFormat::parse(name).context("expected csv, tsv, jsonl, xlsx or parquet")
}
