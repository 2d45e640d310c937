//! Prints one result to stdout: as a table, or in a format of the API.

mod details_json;
mod facts;
mod table;

use anyhow::Context as _;
use refract_lens_rendering::{Format, render};
use refract_service::results::{ReadableResult, ResultDetails};

pub(crate) use self::facts::Facts;
use crate::{output, streams, terminal};

/// The display of a result.
#[derive(Clone, Copy)]
pub(crate) enum ResultDisplay {
    /// A table with bars, for a person.
    Table,
    /// The bytes that the API would send.
    Format(Format),
}

impl ResultDisplay {
    /// Parses the name of a format, or `table`.
    pub(crate) fn parse(name: &str) -> anyhow::Result<Self> {
        if name == "table" {
            return Ok(Self::Table);
        }
        let format = Format::parse(name).map(Self::Format);
        format.context("expected json, raw, csv, tsv, jsonl or table")
    }

    /// Whether the display is a format of rows, which contain the sent texts.
    pub(crate) fn has_texts(self) -> bool {
        match self {
            Self::Format(Format::Csv | Format::Tsv | Format::Jsonl) => true,
            Self::Table | Self::Format(Format::Json | Format::Raw) => false,
        }
    }

    /// The display by default: a table on a terminal, otherwise json.
    pub(crate) fn default_for_stdout() -> Self {
        if streams::stdout_is_terminal() {
            Self::Table
        } else {
            Self::Format(Format::Json)
        }
    }
}

/// Prints everything that is stored about a result as one JSON object, with or without the texts
/// that were sent.
pub(crate) fn print_details(details: &ResultDetails, has_texts: bool) -> anyhow::Result<()> {
    output::data(&details_json::write(details, has_texts)?)
}

/// Prints a result, with the facts below a table.
pub(crate) fn print(
    result: &ReadableResult,
    display: ResultDisplay,
    facts: &Facts,
) -> anyhow::Result<()> {
    match display {
        ResultDisplay::Table => {
            let mut table = table::of(result, terminal::width());
            table.push_str(&facts.lines());
            output::text(&table)
        }
        ResultDisplay::Format(format) => {
            let mut bytes = Vec::new();
            render(format, &result.columns(), &result.view(), &mut bytes)?;
            if matches!(format, Format::Json | Format::Raw) {
                bytes.push(b'\n');
            }
            output::data(&bytes)
        }
    }
}
