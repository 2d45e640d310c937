//! One result on stdout: for a person as a table, for programs as the API has it.

mod facts;
mod table;

use anyhow::Context as _;
use refract_answering::ReadableResult;
use refract_lens_rendering::{Format, render};

pub(crate) use self::facts::Facts;
use crate::{output, terminal};

/// How a result is shown.
#[derive(Clone, Copy)]
pub(crate) enum Shown {
    /// For a person.
    Table,
    /// The API's bytes.
    As(Format),
}

impl Shown {
    /// Reads the name of a format, or `table`.
    pub(crate) fn parse(name: &str) -> anyhow::Result<Self> {
        if name == "table" {
            return Ok(Self::Table);
        }
        let format = Format::parse(name).map(Self::As);
        format.context("expected json, raw, csv, tsv, jsonl or table")
    }

    /// What is shown where nothing was asked for: a table on a terminal, else json.
    pub(crate) fn usual() -> Self {
        if terminal::stdout_is_terminal() {
            Self::Table
        } else {
            Self::As(Format::Json)
        }
    }
}

/// Prints a result; `facts` stand below the table.
pub(crate) fn print(result: &ReadableResult, shown: Shown, facts: &Facts) -> anyhow::Result<()> {
    match shown {
        Shown::Table => {
            let mut table = table::of(result, terminal::width());
            table.push_str(&facts.lines());
            output::data(table.as_bytes())
        }
        Shown::As(format) => {
            let mut bytes = Vec::new();
            render(format, &result.columns(), &result.view(), &mut bytes)?;
            if matches!(format, Format::Json | Format::Raw) {
                bytes.push(b'\n');
            }
            output::data(&bytes)
        }
    }
}
