//! The arguments that say where rows go and in which format.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use refract_file_runs::format_of_name;
use refract_lens_rendering::RowFormat;

/// The arguments of every command that writes rows.
#[derive(Args)]
pub(super) struct OutputArgs {
    /// A file for the rows, which takes its place when it is complete [default: stdout, as for `-`]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// csv, tsv or jsonl [default: as the name of --output ends, else csv]
    #[arg(long, value_name = "FORMAT", value_parser = row_format)]
    format: Option<RowFormat>,
}

impl OutputArgs {
    /// The file; `None` for stdout.
    pub(super) fn file(&self) -> Option<&Path> {
        let file = self.output.as_deref();
        file.filter(|file| *file != Path::new("-"))
    }

    /// The format of the rows: as it was given, or as the file's name ends.
    pub(super) fn format(&self) -> anyhow::Result<RowFormat> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let Some(file) = self.file() else {
            return Ok(RowFormat::Csv);
        };
        let named = format_of_name(file);
        let named = named.with_context(|| format!("--output {}", file.display()))?;
        Ok(named.unwrap_or(RowFormat::Csv))
    }
}

fn row_format(name: &str) -> anyhow::Result<RowFormat> {
    RowFormat::parse(name).context("expected csv, tsv or jsonl")
}
